# Each commit of each ref: its tree, parents, people, dates and message. A tree is named by its contents.
for ref in refs/heads/main refs/heads/release/1.x refs/tags/v1.0; do
  echo "$ref"
  git rev-list "$ref" | LC_ALL=C sort | while read -r commit; do git cat-file commit "$commit"; echo ----; done
done
git cat-file tag refs/tags/v1.0
