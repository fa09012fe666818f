/** Folder of the runner in a grading box, apart from the tests. */
export const runnerFolder = '/quintain'

/** Folder in which the runner asks for what the agent made to be run, in the other box. */
export const callsFolder = '/tmp/quintain-calls'

/**
 * What runs the tests in a grading box: bash, since every box has it. The test script is sourced, and says what it found
 * with `check` and `report`. What the agent made does not run in this box but in another, in which there are no tests,
 * no results and no runner: `graded` asks for it through a folder that we look into, and waits for how it ended.
 *
 * Should a test run the agent's code here all the same, it still cannot
 * - write results itself: they are lines that begin with a number drawn for this grading. It comes by standard input, is
 *   in no variable of the environment, no argument and no file, and is read before any test runs. The stream that the
 *   lines leave by is open in nothing that `check` starts.
 * - read that number, or take that stream, from the runner's memory and descriptors: the runner is started from a copy of
 *   bash that may be executed and not read, and such a process the kernel lets nobody of its own user trace or look into
 *   (`would_dump` in `fs/exec.c`).
 * - end it early by a signal: then its last line is missing, and nothing was passed.
 */
export const checksScript = String.raw`
IFS= read -r quintain_nonce
exec 9>&1 1>&2 </dev/null
quintain_count=0

# report NAME STATUS: the check NAME has passed if STATUS is 0.
report() {
  local quintain_word='not ok'
  [[ $2 == 0 ]] && quintain_word=ok
  quintain_count=$((quintain_count + 1))
  printf '\n%s %s %s\n' "$quintain_nonce" "$quintain_word" "$1" >&9
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
  local quintain_kind=$1 quintain_file quintain_end
  shift
  quintain_file=$(mktemp "$quintain_calls/XXXXXXXX") || return 125
  cat >"$quintain_file"
  printf '%s\0' "$quintain_kind" "$PWD" "$@" >"$quintain_file.new" && mv -- "$quintain_file.new" "$quintain_file.call"
  # Nothing ever comes from descriptor 8: a wait that starts no process.
  until [[ -e $quintain_file.end ]]; do read -rt 0.02 -u 8 quintain_end; done
  cat -- "$quintain_file.out"
  cat -- "$quintain_file.err" >&2
  quintain_end=$(<"$quintain_file.end")
  rm -f -- "$quintain_file" "$quintain_file".*
  return "$quintain_end"
}

# check NAME COMMAND...: a check that passes if the command ends with 0. Functions and builtins are commands too.
check() {
  local quintain_name=$1 quintain_status=0
  shift
  if [[ $(type -t -- "$1") == file ]]; then
    timeout --kill-after=1 "$quintain_seconds" "$@" 9>&- || quintain_status=$?
  else
    ( "$@" ) 9>&- || quintain_status=$?
  fi
  report "$quintain_name" "$quintain_status"
}

quintain_seconds=$1
quintain_main=$2
quintain_calls=$3
shift 3
mkdir -p -- "$quintain_calls"
mkfifo -- "$quintain_calls/.wait"
exec 8<>"$quintain_calls/.wait"
export TESTS=$(dirname -- "$quintain_main")
printf '%s begin\n' "$quintain_nonce" >&9
. "$quintain_main"
printf '\n%s end %s\n' "$quintain_nonce" "$quintain_count" >&9
`

/** Starts the runner from a copy of bash that cannot be read; without one where none can be made. Arguments are those of the script. */
export const runnerCommand = `
folder=$(mktemp -d) && cp -- "$(command -v bash)" "$folder/checks" && chmod 0111 "$folder/checks" &&
exec "$folder/checks" --norc --noprofile ${runnerFolder}/checks.sh "$@"
exec bash --norc --noprofile ${runnerFolder}/checks.sh "$@"
`

/** Variables of a grading: what an agent leaves in a folder is taken for no module, plugin or hook of the tools that look at it. */
export const gradingEnv: Readonly<Record<string, string>> = {
  PYTHONSAFEPATH: '1',
  PYTHONNOUSERSITE: '1',
  PYTHONDONTWRITEBYTECODE: '1',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_COUNT: '3',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
  GIT_CONFIG_KEY_1: 'core.fsmonitor',
  GIT_CONFIG_VALUE_1: 'false',
  GIT_CONFIG_KEY_2: 'core.hooksPath',
  GIT_CONFIG_VALUE_2: '/dev/null',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
}
