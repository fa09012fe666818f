export GIT_AUTHOR_NAME='Ines Roth' GIT_AUTHOR_EMAIL=ines@example.org GIT_COMMITTER_NAME='Ines Roth' GIT_COMMITTER_EMAIL=ines@example.org
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
git init -q -b main --template= site
cd site
git config gc.auto 0
commit() { git add -A; GIT_AUTHOR_DATE="$1 +0000" GIT_COMMITTER_DATE="$1 +0000" git commit -q -m "$2"; }
mkdir search
echo '<h1>Welcome</h1>' > index.html
commit '2026-01-05 09:00:00' 'First page'
echo '<p>We sell tea.</p>' >> index.html
commit '2026-01-06 09:30:00' 'Say what we sell'
git tag v1
git checkout -q -b feature/search
echo 'index: index.html' > search/index.conf
commit '2026-01-07 10:00:00' 'Index the pages'
echo 'text 1' > search/rank.conf
commit '2026-01-07 11:00:00' 'Rank by text'
echo 'title 2' >> search/rank.conf
commit '2026-01-07 12:00:00' 'Rank titles above text'
printf 'text 1\ntitle 3\nheading 2\n' > search/rank.conf
git add -A
GIT_COMMITTER_DATE='2026-01-08 08:15:00 +0000' git commit -q --amend --no-edit
git checkout -q main
git checkout -q -b try/colours
echo 'body { color: green }' > style.css
commit '2026-01-08 09:00:00' 'Rank colours above text'
git checkout -q main
git branch -q -D try/colours feature/search
echo '<p>Open from 9 to 6.</p>' >> index.html
commit '2026-01-09 09:00:00' 'Opening hours'
git checkout -q -b feature/contact
echo '<p>Call us.</p>' > contact.html
commit '2026-01-09 10:00:00' 'A page to reach us'
git checkout -q main
echo '<p>draft of a banner</p>' > banner.html
git add -A
GIT_AUTHOR_DATE='2026-01-09 11:00:00 +0000' GIT_COMMITTER_DATE='2026-01-09 11:00:00 +0000' git stash -q
git reflog expire --expire=now refs/heads/main refs/heads/feature/contact HEAD
rm -rf .git/logs/HEAD .git/logs/refs/heads .git/COMMIT_EDITMSG .git/ORIG_HEAD
