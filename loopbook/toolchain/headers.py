"""Precompiled headers, for the wrapper around the compiler (see `loopbook.toolchain.compiler`)."""

from __future__ import annotations

SCRIPT = """\
flags= before=
for word do
  case "$word" in
    -o | *.cpp | *.csv) ;;
    *) [ "$before" = -o ] || flags="$flags $word" ;;
  esac
  before=$word
done
header=${source%.cpp}.h
if [ "$source" ] && [ -e "$header" ]; then
  common= headers=
  while IFS= read -r line; do
    case "$line" in '#include <'*) common="$common $line" ;; esac
  done <"$header"
  [ -e "${0%/*}/known" ] && . "${0%/*}/known"
  if [ -z "$headers" ]; then
    key=$(printf '%s' "$flags$common" | cksum)
    made=${0%/*}/${key%% *}
    find "$made" -maxdepth 0 -mmin +2 -exec rm -r {} + 2>/dev/null
    if mkdir "$made" 2>/dev/null; then
      grep '^#include <' "$header" >"$made/common.h"
      CLANG FLAGS $flags -fpch-instantiate-templates -x c++-header "$made/common.h" \\
        -o "$made/new" 2>/dev/null &&
        mv "$made/new" "$made.pch" && headers=$made.pch
      case "$headers:$flags$common" in
        :* | *"'"*) ;;
        *) printf "[ '%s' = \\"\\$flags\\$common\\" ] && [ -e '%s' ] && headers='%s'\\n" \\
          "$flags$common" "$headers" "$headers" >>"${0%/*}/known" ;;
      esac
    fi
  fi
  [ "$headers" ] && CLANG FLAGS -include-pch "$headers" "$@" 2>/dev/null && exit
fi
"""
"""Put before the compile: docc's flags and the headers that it includes name the precompiled ones,
so a change of either makes new ones. They are noted as what a shell runs: it reads files line by
line byte after byte. What they instantiate of templates is kept with them: done again in every
compile, it would take half of the time. Whoever makes the folder makes them, or another one if it
is left behind; where they do not serve, the code is compiled without."""
