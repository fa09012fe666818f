# The same files and messages under other hashes.
cd site
git checkout -q -b feature/search v1
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org
mkdir search
echo 'index: index.html' > search/index.conf && git add -A && git commit -q -m 'Index the pages'
echo 'text 1' > search/rank.conf && git add -A && git commit -q -m 'Rank by text'
printf 'text 1\ntitle 3\nheading 2\n' > search/rank.conf && git add -A && git commit -q -m 'Rank titles above text'
git checkout -q main
