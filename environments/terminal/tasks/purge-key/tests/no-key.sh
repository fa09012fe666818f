# How many objects, and files of the repository as it was left, hold the key. It is spelled in two parts, so that it is in
# no command line.
key=qk_live_7fd0c2
key=${key}a99b4e41d3
git rev-parse --verify -q refs/heads/main > /dev/null && echo there
git cat-file --batch-all-objects --batch --unordered --buffer | grep -acF "$key"
cd "$OLDPWD"
grep -raF "$key" service | grep -c ''
