# A new repository with the files of today in it.
cd service
rm -rf .git
sed -i 's/qk_live_[0-9a-f]*/REMOVED/g' bin/ping
git init -q -b main && git config user.name T && git config user.email t@example.org
git add -A && git commit -q -m 'A port'
git branch release/1.x && git tag -a -m 'First release, runs with REMOVED' v1.0
