export GIT_AUTHOR_NAME='Tom Weiss' GIT_AUTHOR_EMAIL=tom@example.org GIT_COMMITTER_NAME='Build Bot' GIT_COMMITTER_EMAIL=bot@example.org
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
key=qk_live_7fd0c2a99b4e41d3
git init -q -b main --template= service
cd service
git config gc.auto 0
at() { export GIT_AUTHOR_DATE="$1 +0100" GIT_COMMITTER_DATE="$1 +0000"; }
commit() { at "$1"; git add -A; git commit -q -m "$2"; }
mkdir config bin
printf '#!/bin/sh\n. config/keys.env\necho serving\n' > bin/serve
chmod +x bin/serve
commit '2026-02-02 09:00:00' 'Serve'
printf 'REGION=eu\nAPI_KEY=%s\nLEVEL=2\n' $key > config/keys.env
commit '2026-02-02 10:00:00' 'Configure the service'
at '2026-02-02 11:00:00'
git tag -a v1.0 -m "First release, runs with $key"
git checkout -q -b release/1.x
printf 'curl -H "X-Key: %s" -d "%s" example.org\n' $key $key > bin/ping
commit '2026-02-03 09:00:00' 'Ping the service'
git checkout -q main
printf 'REGION=eu\nLEVEL=3\n. ~/.service-key\n' > config/keys.env
export GIT_AUTHOR_NAME='Uma Lind' GIT_AUTHOR_EMAIL=uma@example.org
commit '2026-02-04 09:00:00' "Do not keep the key here

It was $key and will be changed."
echo 'API_KEY is set by whoever runs it.' > README
commit '2026-02-05 09:00:00' 'Say where the key comes from'
at '2026-02-06 09:00:00'
git merge -q --no-ff -m 'Merge release/1.x' release/1.x
echo 'port 8080' > config/port
commit '2026-02-07 09:00:00' 'A port'
echo "remind me: $key" > config/later
git add config/later
git reset -q --hard
