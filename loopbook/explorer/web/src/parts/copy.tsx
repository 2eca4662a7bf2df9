/** Commands that do the same in a terminal, each with a button that copies it. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

async function copy(text: string): Promise<void> {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
  // Plain HTTP to another machine has no clipboard of its own.
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("the browser does not let pages copy");
}

export function CopyButton({ text, label }: { text: string; label: string }): VNode {
  const [said, say] = useState<string | null>(null);
  useEffect(() => {
    if (!said) return;
    const later = setTimeout(() => say(null), 2000);
    return () => clearTimeout(later);
  }, [said]);
  return (
    <button
      type="button"
      class="copy"
      aria-label={label}
      onClick={() =>
        copy(text).then(
          () => say("Copied"),
          () => say("Select and copy it by hand"),
        )
      }
    >
      <span aria-live="polite">{said ?? "Copy"}</span>
    </button>
  );
}

export function Commands({ commands }: { commands: string[] | undefined }): VNode | null {
  if (!commands?.length) return null;
  return (
    <ul class="commands" aria-label="The same in a terminal">
      {commands.map((command) => (
        <li key={command}>
          <code>{command}</code>
          <CopyButton text={command} label={`Copy command: ${command}`} />
        </li>
      ))}
    </ul>
  );
}
