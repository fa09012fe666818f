/** First on the path of the tests. */
export const quietGitPath = '/quintain/bin/git'

/**
 * The `git` of hidden tests. A repository says itself which programs run when one looks at it (filters, text conversions,
 * pagers, hooks, helpers, aliases, submodules with settings of their own), in more places than one could list. So git
 * runs here where it can start no process at all: such a program fails, whichever way it was asked for.
 *
 * A git that fails says so on its output too: tests ask whether that is empty, and must not take a failure for it.
 */
export const quietGit = `#!/usr/bin/env bash
PATH=\${PATH#/quintain/bin:}
refuse() {
  echo "git: $1" | tee /dev/stderr
  exit 125
}
git=$(command -v git) || refuse 'there is none in this box'
# It would become the program that shows it, which a repository can name.
for word; do [[ $word == help || $word == --help ]] && refuse 'it shows no manual here'; done
( ulimit -u 1 || exit 1; exec timeout 5 true ) 2>/dev/null
[[ $? == 125 ]] || refuse 'it cannot be kept from starting programs in this box'
( ulimit -u 1; exec "$git" "$@" )
status=$?
(( status < 128 )) || echo "git: ended with $status"
exit "$status"
`
