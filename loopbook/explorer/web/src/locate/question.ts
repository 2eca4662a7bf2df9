/** What is asked: pasted or dropped text, which is Python or docc's SDFG as JSON. */
import { Problem } from "../source";

export const TARGETS = ["sequential", "openmp"];

/** The server reads no longer requests; to say so here spares sending them. */
const MOST_CHARACTERS = 8 << 20;

export type Question = { python: string; target: string } | { sdfg: unknown; target: string };

/**
 * The question that a text asks. JSON is told by its first character: no Python function begins so.
 *
 * @throws Problem The text is empty, too long, or JSON with a mistake.
 */
export function question(text: string, target: string): Question {
  if (!text.trim()) throw new Problem("There is nothing to look up: paste a Python function or an SDFG, or choose a file.");
  if (text.length > MOST_CHARACTERS) throw new Problem("That is over 8 MiB: paste only the function with the loops.");
  if (!text.trimStart().startsWith("{")) return { python: text, target };
  try {
    return { sdfg: JSON.parse(text) as unknown, target };
  } catch (error) {
    throw new Problem(`That begins like an SDFG, but is no JSON: ${(error as Error).message}`);
  }
}
