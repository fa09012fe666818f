cd service
key=$(git show v1.0:config/keys.env | grep '^API_KEY=' | cut -d= -f2)
export key FILTER_BRANCH_SQUELCH_WARNING=1
git filter-branch -f \
  --tree-filter 'grep -rlF "$key" . | while IFS= read -r file; do sed -i "s/$key/REMOVED/g" "$file"; done' \
  --msg-filter 'sed "s/$key/REMOVED/g"' --tag-name-filter cat -- --all > /dev/null
# filter-branch carries a tag over with its message as it was.
tag=$(git cat-file tag v1.0 | sed "s/$key/REMOVED/g" | git mktag)
git update-ref refs/tags/v1.0 "$tag"
git for-each-ref --format='%(refname)' refs/original | while IFS= read -r ref; do git update-ref -d "$ref"; done
git reflog expire --expire=now --all
git gc -q --prune=now
rm -rf .git/ORIG_HEAD .git/COMMIT_EDITMSG .git/logs
grep -rlF "$key" . || true
