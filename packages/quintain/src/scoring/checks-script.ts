import { quietGit, quietGitPath } from './quiet-git.ts'

/** Folder of the runner in a grading box, apart from the tests. */
const runnerFolder = '/quintain'
const scriptPath = `${runnerFolder}/checks.sh`

/**
 * What runs the tests in a grading box: bash, since every box has it. The test script is sourced, and says what it found
 * with `check` and `report`. What the agent made does not run in this box but in another, in which there are no tests,
 * no results and no runner: `graded` asks us for it over the output of this script, and hears over its input how it ended.
 *
 * Should a test run the agent's code here all the same, that code still cannot
 * - say that a check has passed: that is said by a number drawn for this check and this grading. The numbers come by
 *   standard input before any test runs, are in no variable of the environment, no argument and no file, and are
 *   written when their check has passed; whoever takes one then has what was earned, and no other.
 * - take those numbers, or input and output, from the runner: it is started from a copy of bash that may be executed and
 *   not read, and such a process the kernel lets nobody of its own user trace or look into (`would_dump` in `fs/exec.c`).
 *   Its input and output are open in no program that it starts: bash keeps what a block redirects in descriptors that are
 *   closed on execution, and here that is all there is of them.
 * - end it early by a signal: then the number of the end is missing, and nothing was passed.
 */
const checksScript = `
IFS= read -r quintain_end
IFS= read -r quintain_clean
declare -A quintain_number=() quintain_failed=()
while IFS= read -r quintain_line && [[ -n $quintain_line ]]; do
  quintain_number["n\${quintain_line#* }"]=\${quintain_line%% *}
done
quintain_seconds=$1
quintain_main=$2
quintain_own=$3
shift 3
readonly quintain_end quintain_number quintain_seconds quintain_main quintain_own

# report NAME STATUS: the check NAME has passed if STATUS is 0, and was not reported otherwise before. It is said at once:
# what waits in a variable could be changed by whatever a test takes for a number.
report() {
  local quintain_turned quintain_said=(failed "$1")
  if [[ $2 != 0 ]]; then
    quintain_failed["n$1"]=1
    [[ -n \${quintain_number["n$1"]:-} ]] || quintain_clean=
  elif [[ -z \${quintain_failed["n$1"]:-} ]]; then
    quintain_said=(passed "\${quintain_number["n$1"]:-}")
  fi
  IFS= read -r -N 1 -u "$quintain_turn" quintain_turned || return
  printf '%s\\0' "\${quintain_said[@]}" >&"$quintain_say"
  printf . >&"$quintain_turn"
}

# graded PROGRAM ARGUMENT...: runs what the agent made, apart from here, for as long as one check may take. Gives its
# output and exit status (124 when its time ran out, 125 when it wrote too much); takes standard input.
graded() {
  quintain_call run "$@"
}

# fetch PATH: the contents of a file that a graded program has left where it runs; status 1 when there is none.
fetch() {
  quintain_call file "$1" </dev/null
}

quintain_call() {
  local LC_ALL=C quintain_kind=$1 quintain_stdin quintain_status quintain_out quintain_err quintain_size
  shift
  quintain_stdin=$(base64)
  # One at a time, also from the subshells of one line: what is in this pipe is the turn to speak.
  IFS= read -r -N 1 -u "$quintain_turn" quintain_size || return 125
  printf '%s\\0' call "$quintain_kind" "$PWD" "$quintain_stdin" "$#" "$@" >&"$quintain_say"
  IFS=' ' read -r -u "$quintain_hear" quintain_status quintain_out quintain_err || return 125
  IFS= read -r -N "$quintain_out" -u "$quintain_hear" quintain_out
  IFS= read -r -N "$quintain_err" -u "$quintain_hear" quintain_err
  printf . >&"$quintain_turn"
  printf '%b' "\${quintain_err%.}" >&2
  printf '%b' "\${quintain_out%.}"
  return "$quintain_status"
}

# check NAME COMMAND...: a check that passes if the command ends with 0. Functions and builtins are commands too.
check() {
  local quintain_name=$1 quintain_status=0
  shift
  if [[ $(type -t -- "$1") == file ]]; then
    timeout --kill-after=1 "$quintain_seconds" "$@" || quintain_status=$?
  else
    ( "$@" ) || quintain_status=$?
  fi
  report "$quintain_name" "$quintain_status"
}

quintain_tell() {
  IFS= read -r -N 1 -u "$quintain_turn" quintain_line
  printf '%s\\0' end "$quintain_end" "$quintain_clean" >&"$quintain_say"
}

# The descriptors in which bash keeps what the block below redirects: the first free ones, in this order.
quintain_free=10
for quintain_line in quintain_say quintain_hear quintain_turn; do
  while [[ -L /proc/self/fd/$quintain_free ]]; do quintain_free=$((quintain_free + 1)); done
  printf -v "$quintain_line" %s "$quintain_free"
  quintain_free=$((quintain_free + 1))
done
readonly quintain_say quintain_hear quintain_turn
mkfifo -- "$quintain_own/turn" && exec 8<>"$quintain_own/turn" && rm -rf -- "$quintain_own" || exit 125
printf . >&8
export TESTS=$(dirname -- "$quintain_main") PATH=${runnerFolder}/bin:$PATH
{
  for quintain_line in "$quintain_say" "$quintain_hear" "$quintain_turn"; do
    [[ -L /proc/self/fd/$quintain_line ]] || exit 125
    env test -L "/proc/self/fd/$quintain_line" && exit 125
  done
  printf 'begin\\0' >&"$quintain_say"
  . "$quintain_main"
  quintain_tell
} 1>&2 0</dev/null 8<&-
`

/** The files of the runner. */
export const runnerFiles = {
  [scriptPath]: checksScript,
  [quietGitPath]: { data: quietGit, mode: 0o755 },
}

/**
 * Starts the runner from a copy of bash that cannot be read. Arguments are those of the script, without the folder of that
 * copy, which is first where a program may be executed.
 */
export const runnerCommand = `
for place in "$PWD" /tmp /var/tmp /dev/shm; do
  own=$(mktemp -d -p "$place" 2>/dev/null) && cp -- "$(command -v bash)" "$own/checks" && chmod 0111 "$own/checks" &&
  "$own/checks" -c : </dev/null && exec "$own/checks" --norc --noprofile ${scriptPath} "$1" "$2" "$own"
done 2>/dev/null
echo 'there is no place in this box for a copy of bash that can be executed' >&2
exit 125
`

/** Settings of git that no repository can change. It has neither threads nor programs of its own: they are processes too. */
const gitSettings: Readonly<Record<string, string>> = {
  'safe.directory': '*',
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.preloadIndex': 'false',
  'core.commitGraph': 'false',
  'core.multiPackIndex': 'false',
  'index.threads': '1',
  'grep.threads': '1',
  'pack.threads': '1',
  'checkout.workers': '1',
  'gc.auto': '0',
  'maintenance.auto': 'false',
}

/** Variables of a grading: what an agent leaves in a folder is taken for no module, plugin or hook of the tools that look at it. */
export const gradingEnv: Readonly<Record<string, string>> = {
  PYTHONSAFEPATH: '1',
  PYTHONNOUSERSITE: '1',
  PYTHONDONTWRITEBYTECODE: '1',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_COUNT: String(Object.keys(gitSettings).length),
  ...Object.fromEntries(
    Object.entries(gitSettings).flatMap(([key, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, key],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ),
}
