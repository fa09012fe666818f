# Writes each commit anew from its object, the oldest first.
cd service
key=$(git show v1.0:config/keys.env | sed -n 's/^API_KEY=//p')
: > /tmp/map
git rev-list --topo-order --reverse --all | while read -r commit; do
  export GIT_INDEX_FILE=/tmp/index
  rm -f /tmp/index
  git read-tree "$commit"
  git ls-files -s > /tmp/files
  while read -r mode blob stage path; do
    new=$(git cat-file blob "$blob" | sed "s/$key/REMOVED/g" | git hash-object -w --stdin)
    git update-index --cacheinfo "$mode,$new,$path"
  done < /tmp/files
  tree=$(git write-tree)
  git cat-file commit "$commit" | sed "s/$key/REMOVED/g; s/^tree .*/tree $tree/" > /tmp/commit
  while read -r old new; do sed -i "s/^parent $old/parent $new/" /tmp/commit; done < /tmp/map
  echo "$commit $(git hash-object -w -t commit /tmp/commit)" >> /tmp/map
done
new_of() { grep "^$1 " /tmp/map | cut -d' ' -f2; }
for ref in refs/heads/main refs/heads/release/1.x; do git update-ref "$ref" "$(new_of "$(git rev-parse "$ref")")"; done
git cat-file tag v1.0 | sed "s/$key/REMOVED/g; s/^object .*/object $(new_of "$(git rev-parse 'v1.0^{commit}')")/" > /tmp/tag
git update-ref refs/tags/v1.0 "$(git hash-object -w -t tag /tmp/tag)"
git reset -q --hard
git reflog expire --expire=now --all
git prune --expire now
rm -rf .git/logs .git/COMMIT_EDITMSG
