# The agent's repository may hold hooks, filters and settings that run programs, and replacements that show other
# commits than there are: its objects and refs are looked at under settings of our own.
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_NO_REPLACE_OBJECTS=1 GIT_OPTIONAL_LOCKS=0
cp -r service "${TMPDIR:-/tmp}/copy"
cd "${TMPDIR:-/tmp}/copy"
rm -rf .git/hooks .git/config .git/config.worktree .git/info .git/objects/info/alternates .git/worktrees .git/modules .git/shallow
find . -type l -delete
printf "[core]\n\trepositoryformatversion = 0\n\tbare = false\n" > .git/config
