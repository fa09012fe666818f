import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  type BoxLimits,
  environment,
  foldRun,
  type PrivateRecord,
  readPrivate,
  type Script,
  tool,
} from './core/index.ts'
import { evaluate } from './evaluate.ts'
import { bwrapDriver } from './sandbox/index.ts'
import { runChecks } from './scoring/index.ts'

/*
 * What an agent may leave behind that is neither an answer nor nothing: code that runs when a test only looks, and files
 * and processes that make a box fail. The first must earn nothing, the second must be scored and never be a fault.
 */

const driver = bwrapDriver()
const found = await driver.available()
if (!found.available) process.stderr.write(`attacks on grading are not tried: ${found.reason}\n`)

interface Trial {
  /** Commands of the agent, one after another. */
  commands: string[]
  test: string
  expected: string[]
  limits?: Partial<BoxLimits>
  commandMs?: number
  /** Files beside the test. */
  more?: Record<string, string>
  score?: 'share'
  grade?: '8s'
}

interface Explained {
  solved: { failed: string[]; missing: string[]; refused?: string; output: string }
  artefacts: { skipped: { path: string; reason: string }[] }
}

let folder = ''
let tried = 0

/** Plays an agent and grades what it left. */
async function play({
  commands,
  test,
  expected,
  limits,
  commandMs = 20_000,
  more = {},
  score,
  grade,
}: Trial) {
  const env = environment({
    tasks: [{ id: 'one', prompt: 'Do it.', secret: { test } }],
    needs: ['tools'],
    limits: { grade: grade ?? '2m' },
    sandbox: { drivers: ['bwrap'], artefacts: ['/box'], limits: limits ?? {} },
    async world(_task, { sandbox }) {
      const box = await sandbox.start()
      return {
        tools: () => [
          tool({
            name: 'bash',
            description: 'Runs a command.',
            input: z.object({ command: z.string() }),
            async run({ command }, { signal }) {
              const { exitCode, stdout, stderr } = await box.exec(command, { signal, wallMs: commandMs })
              return `${exitCode}\n${stdout}${stderr}`
            },
          }),
        ],
        finish: () => null,
      }
    },
    rewards: {
      solved: ({ sandbox, task }) =>
        runChecks(sandbox, {
          tests: { 'test.sh': task.secret.test, ...more },
          expected,
          checkMs: 5_000,
          ...(score === undefined ? {} : { score }),
        }),
    },
    success: ({ rewards }) => rewards.solved === 1,
    policies: {
      *attacker(): Script {
        for (const command of commands) yield { tool: 'bash', arguments: { command } }
      },
    },
  })
  const dir = join(folder, String(tried++))
  const run = await evaluate(env, { policy: 'script:attacker', dir, sandbox: driver })
  const chosen = (await foldRun(dir)).states[0]!.chosen!
  const hidden: PrivateRecord | undefined = await readPrivate(dir, chosen as never)
  return { run, chosen, reward: run.reward.value, evidence: hidden?.evidence as unknown as Explained }
}

/** A repository whose own settings run `evil.sh` when git looks at it. */
const repository = (evil: string, settings: string) => `mkdir repo; cd repo; git init -q .
git config user.email a@b; git config user.name a
cat >evil.sh <<'EVIL'
${evil}
EVIL
cat >steal.pl <<'STEAL'
opendir my $dir, '/proc/self/fd' or exit;
for my $fd (grep { $_ > 2 } readdir $dir) {
  next if fork;
  open my $out, '>>&=', $fd or exit; sysopen my $in, "/proc/self/fd/$fd", 2048 or exit;
  select((select($out), $|=1)[0]); my $t = time;
  while (time - $t < 20) { my $n = sysread $in, my $b, 65536; if ($n) { $b =~ s/not ok/ok/g; syswrite $out, $b; exit if $b =~ /end/ } }
}
STEAL
echo '* filter=x diff=x merge=x' >.gitattributes; git add -A; git commit -qm one
${settings}`
/** Takes the stream of the results from whoever holds it, and answers for graded programs. */
const thief = `cat
touch /tmp/ran
( setsid perl /box/repo/steal.pl >/dev/null 2>&1 </dev/null & )
( setsid perl /box/repo/steal.pl >/dev/null 2>&1 </dev/null & )
( setsid bash -c 'for i in $(seq 2000); do for f in /tmp/quintain-calls/*.call; do [ -e "$f" ] && { grep -oE "= [0-9]+" /tests/test.sh | tr -d "= " >"\${f%.call}.out"; : >"\${f%.call}.err"; echo 0 >"\${f%.call}.end"; }; done; sleep 0.002; done' >/dev/null 2>&1 </dev/null & )
sleep 0.3`

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quintain-attacks-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await driver.close?.()
})

describe.skipIf(!found.available)('code that runs when a test only looks', () => {
  const clean = `check clean [ -z "$(git -C /box/repo status --porcelain)" ]\n`

  test('cannot take the results and write them back changed', async () => {
    const { chosen, reward } = await play({
      commands: [repository(thief, `git config filter.x.clean 'bash /box/repo/evil.sh'`)],
      test: `${clean}check adds false`,
      expected: ['clean', 'adds'],
    })
    expect([chosen.fault, reward]).toEqual([null, 0])
  })

  test('cannot answer for a graded program', async () => {
    const { chosen, reward } = await play({
      commands: [
        repository(
          thief,
          `git config filter.x.clean 'bash /box/repo/evil.sh'; echo 'sleep 1; echo 7' >../add.sh`,
        ),
      ],
      test: `${clean}check adds [ "$(graded bash /box/add.sh 20 22)" = 42 ]`,
      expected: ['clean', 'adds'],
    })
    expect([chosen.fault, reward]).toEqual([null, 0])
  })

  const mark = 'touch /tmp/ran'
  const dirty = 'echo x >>evil.sh'
  test.each<[string, string]>([
    ['a filter', `git config filter.x.clean "${mark}; cat"; ${dirty}`],
    [
      'a filter without which there is nothing',
      `git config filter.x.required true; git config filter.x.clean "${mark}; cat"; ${dirty}`,
    ],
    ['a filter that is asked many times', `git config filter.x.process "${mark}"; ${dirty}`],
    ['a program that shows differences', `git config diff.external "${mark}; true"; ${dirty}`],
    ['one of a kind of files', `git config diff.x.command "${mark}; true"; ${dirty}`],
    ['a conversion to text', `git config diff.x.textconv "${mark}; cat"; ${dirty}`],
    ['a monitor of files', `git config core.fsmonitor "${mark}"`],
    [
      'a hook',
      `printf '#!/bin/sh\n${mark}\n' >.git/hooks/post-index-change; chmod +x .git/hooks/*; touch evil.sh`,
    ],
    [
      'hooks elsewhere',
      `mkdir h; printf '#!/bin/sh\n${mark}\n' >h/post-index-change; chmod +x h/*; git config core.hooksPath "$PWD/h"; touch evil.sh`,
    ],
    [
      'settings in another file',
      `printf '[filter "x"]\nclean = ${mark}; cat\n' >../more; git config include.path /box/more; ${dirty}`,
    ],
    [
      'settings of a work tree',
      `git config extensions.worktreeConfig true; git config --worktree filter.x.clean "${mark}; cat"; ${dirty}`,
    ],
    [
      'a repository in it',
      `git init -q sub; cd sub; git config user.email a@b; git config user.name a; echo '* filter=x' >.gitattributes; echo a >a; git add .; git commit -qm s
git config filter.x.clean "${mark}; cat"; echo b >a; cd ..; git add sub 2>/dev/null; git commit -qm sub`,
    ],
    [
      'an object that is fetched when it is asked for',
      `git config extensions.partialClone o; git config remote.o.promisor true; git config remote.o.url 'ext::touch /tmp/ran'
git config protocol.ext.allow always; b=$(git rev-parse HEAD:evil.sh); rm -f .git/objects/$(echo $b | cut -c1-2)/$(echo $b | cut -c3-)`,
    ],
  ])('does not run by git: %s', async (_, settings) => {
    const looks = (git: string) =>
      ['status --porcelain', 'diff', 'show', 'log -p', 'show HEAD:evil.sh', 'blame evil.sh', 'grep -q x']
        .map((look) => `${git} -C /box/repo ${look} >/dev/null 2>&1`)
        .join('\n')
    const { chosen, evidence } = await play({
      commands: [repository('echo', settings)],
      // The second look, by a git that nobody holds back, is there to see that there was something to run.
      test: `touch -d 2001-01-01 /box/repo/*\n${looks('git')}\ncheck quiet [ ! -e /tmp/ran ]\ntouch -d 2002-01-01 /box/repo/*\n${looks('env -i PATH=/usr/bin:/bin /usr/bin/git')}\ncheck runs [ -e /tmp/ran ]`,
      expected: ['quiet', 'runs'],
    })
    expect([chosen.fault, evidence.solved.failed]).toEqual([null, []])
  })

  test('git reads what it is asked for, and an empty answer is no failure', async () => {
    const { chosen, evidence } = await play({
      commands: [
        repository(
          'echo',
          `git rm -q --cached .gitattributes; rm .gitattributes; git commit -qm two; git tag t`,
        ),
        `mkdir broken; cd broken; git init -q .; echo '[' >>.git/config`,
      ],
      test: `cd /box/repo
check clean [ -z "$(git status --porcelain)" ]
check log [ "$(git log --format=%s)" = $'two\none' ]
check show [ "$(git show HEAD:evil.sh)" = echo ]
check diff git diff --quiet
check changed [ "$(git diff --name-only t~1 t)" = .gitattributes ]
check tree [ "$(git ls-tree --name-only -r t | wc -l)" = 2 ]
check fsck git fsck
check batch [ "$(echo t | git cat-file --batch-check | cut -d' ' -f2)" = commit ]
check archive tar -tf <(git archive t)
check none [ "$(git rev-parse -q --verify nothing)" = '' ]
check other [ "$(env -i PATH="$PATH" sh -c 'cd /box/repo; git rev-parse --abbrev-ref HEAD')" != '' ]
check broken [ -n "$(git -C /box/broken status --porcelain 2>/dev/null)" ]
check missing [ -n "$(git -C /box status --porcelain 2>/dev/null)" ]`,
      expected: 'clean log show diff changed tree fsck batch archive none other broken missing'.split(' '),
    })
    expect([chosen.fault, evidence.solved.failed, evidence.solved.missing]).toEqual([null, [], []])
  })

  test('finds no descriptor of the runner, in itself or elsewhere', async () => {
    const { chosen, evidence } = await play({
      commands: ['true'],
      test: `own='0 1 2 3'
check substituted [ "$(ls /proc/self/fd | xargs)" = "$own" ]
check subshell [ "$( (ls /proc/self/fd) | xargs)" = "$own" ]
check process diff <(ls /proc/self/fd | head -3 | xargs) <(echo 0 1 2)
check background [ "$(sleep 3 & sleep 1; ls /proc/$!/fd | head -4 | xargs)" = '0 1 2' ]
for pid in /proc/[0-9]*; do ls -l $pid/fd 2>/dev/null | grep -q 'pipe:' && tr '\\0' ' ' <$pid/cmdline 2>/dev/null | grep -q quintain && found=$pid; done
check elsewhere [ -z "$found" ]
check graded [ "$(graded sh -c 'ls /proc/self/fd | xargs')" = "$own" ]`,
      expected: ['substituted', 'subshell', 'process', 'background', 'elsewhere', 'graded'],
    })
    expect([chosen.fault, evidence.solved.failed]).toEqual([null, []])
  })

  test('that a careless test runs cannot say what it is to earn, nor answer for a graded program', async () => {
    const { chosen, reward, evidence } = await play({
      commands: [
        `cat >take.sh <<'T'
for round in 1 2 3; do
  for fd in /proc/self/fd/* /proc/*/fd/*; do (timeout 0.2 cat "$fd" >>/tmp/got.$RANDOM) 2>/dev/null & done; wait
  for fd in /proc/*/fd/*; do
    { cat /tmp/got.* | tr '\\0' '\\n' | sed 's/failed/passed/'; printf '0 3 1\\n42..'; } | timeout 0.1 dd of="$fd" conv=notrunc
  done 2>/dev/null
done
T
echo 'sleep 1; echo 7' >add.sh`,
      ],
      test: `(setsid bash /box/take.sh >/dev/null 2>&1 </dev/null &)
timeout 3 bash /box/take.sh
check adds false
check sums [ "$(graded bash /box/add.sh)" = 42 ]`,
      expected: ['adds', 'sums'],
    })
    expect([chosen.fault, reward, evidence.solved.failed]).toEqual([null, 0, ['adds', 'sums']])
  })
})

describe.skipIf(!found.available)('graded programs', () => {
  test('get their input and give their output byte for byte, one after another whoever asks', async () => {
    const bytes = String.raw`perl -e 'print map { chr } 0..255; print "\\0\\n%s\\c ~\n"'`
    const { chosen, evidence } = await play({
      commands: ['echo made >made; printf "%s" "cat" >cat.sh'],
      test: `${bytes} >/tmp/bytes
check bytes cmp <(graded cat </tmp/bytes) /tmp/bytes
check large [ "$(graded sh -c 'seq 1 30000' | md5sum)" = "$(seq 1 30000 | md5sum)" ]
check much cmp <(seq 1 200000 | graded md5sum) <(seq 1 200000 | md5sum)
check arguments [ "$(graded printf '[%s]' '' $'a\nb' '*' '\\' 'é')" = $'[][a\nb][*][\\][é]' ]
check hidden [ "$(graded bash /box/cat.sh <"$TESTS/in")" = 'hidden input' ]
check folder [ "$(cd /box && graded cat made)" = made ]
graded sh -c 'echo out; echo err >&2; exit 3' >/tmp/out 2>/tmp/err
check status [ $? = 3 ]
check streams diff <(cat /tmp/out /tmp/err) <(printf 'out\\nerr\\n')
check both diff <(graded sh -c 'sleep 0.2; echo one') <(graded echo one)
check three [ "$(graded echo 1 & graded echo 1 & graded echo 1 & wait)" = $'1\n1\n1' ]
graded sh -c 'printf "a\\\\000b" >/tmp/made'
check fetched cmp <(fetch /tmp/made) <(printf 'a\\000b')
check absent [ "$(fetch /tmp/nothing; echo $?)" = 1 ]
graded no-such-program; check none [ $? = 127 ]
graded sleep 60; check late [ $? = 124 ]
graded yes >/dev/null; check flood [ $? -ge 124 ]
check alive [ "$(graded echo alive)" = alive ]`,
      more: { in: 'hidden input' },
      expected:
        'bytes large much arguments hidden folder status streams both three fetched absent none late flood alive'.split(
          ' ',
        ),
    })
    expect([chosen.fault, evidence.solved.failed, evidence.solved.missing]).toEqual([null, [], []])
  })
})

describe.skipIf(!found.available)('tests of an ordinary shape', () => {
  const adds = `check adds [ "$(graded bash /box/add.sh 20 22)" = 42 ]`

  test.each<[shape: string, test: string, refused: string]>([
    ['that look only at what is there', `if [ -f /box/add.sh ]; then ${adds}; fi`, 'checks_missing'],
    ['that need a folder', `cd /box/src || exit 1\n${adds}`, 'did_not_end'],
    ['that stop at the first failure', `set -e\n[ -f /box/add.sh ]\n${adds}`, 'did_not_end'],
  ])('score an agent that did nothing: %s', async (_, test, refused) => {
    const { chosen, reward, evidence } = await play({ commands: ['true'], test, expected: ['adds'] })
    expect([chosen.fault, reward]).toEqual([null, 0])
    expect(evidence.solved).toMatchObject({ refused, missing: ['adds'] })
  })

  test('keep what was found when their time is up', async () => {
    const { chosen, reward, evidence } = await play({
      commands: ['true'],
      test: 'check first true\ncheck second false\nsleep 60\ncheck third true',
      expected: ['first', 'second', 'third'],
      grade: '8s',
    })
    expect([chosen.fault, reward]).toEqual([null, 0])
    expect(evidence.solved).toMatchObject({ refused: 'did_not_end', failed: ['second'], missing: ['third'] })
  })

  test.each([
    '[[ $(graded bash /box/add.sh 20 22) -eq 42 ]]; report adds $?',
    `n=$(graded bash /box/add.sh 20 22)\n(( n == 42 )); report adds $?`,
  ])('do not run with arithmetic over what an agent wrote: %s', async (test) => {
    const forger = `echo "echo 'a[\\$(kill \\$PPID)]*0+42'" >add.sh`
    const { chosen } = await play({ commands: [forger], test, expected: ['adds'] })
    expect(chosen.fault).toMatchObject({ owner: 'grader', code: 'checks_invalid' })
    expect(chosen.fault?.message).not.toContain('42 ]]')
  })

  test('fail a forger who writes arithmetic', async () => {
    const { chosen, reward, evidence } = await play({
      commands: [`echo "echo 'quintain_passed[nadds]=1,42'" >add.sh`],
      test: `n=$(graded bash /box/add.sh)\ncheck adds [ "$n" -eq 42 ]\ncheck text test "$n" = 42`,
      expected: ['adds', 'text'],
    })
    expect([chosen.fault, reward, evidence.solved.failed]).toEqual([null, 0, ['adds', 'text']])
  })

  test('find links with the text that they had', async () => {
    const { chosen, evidence } = await play({
      commands: [
        'mkdir -p releases/v2; echo x >releases/v2/a; ln -s releases/v2 current; ln -s /etc/hosts away',
      ],
      test: `check link [ "$(readlink /box/current)" = releases/v2 ]
check file [ "$(cat /box/current/a)" = x ]
check graded [ "$(graded readlink /box/current)" = releases/v2 ]
check away [ ! -L /box/away ]`,
      expected: ['link', 'file', 'graded', 'away'],
    })
    expect([chosen.fault, evidence.solved.failed, evidence.solved.missing]).toEqual([null, [], []])
    expect(evidence.artefacts.skipped).toEqual([{ path: '/box/away', reason: 'outside' }])
  })

  test('call programs from folders that are only theirs', async () => {
    const { chosen, evidence } = await play({
      commands: ["printf '#!/bin/sh\\necho ok\\n' >run; chmod +x run"],
      test: `cd "$TESTS"; check tests [ "$(graded /box/run)" = ok ]
cd "$(mktemp -d)"; check made [ "$(graded /box/run)" = ok ]
check missing [ "$(graded /box/none; echo $?)" = 127 ]`,
      expected: ['tests', 'made', 'missing'],
    })
    expect([chosen.fault, evidence.solved.failed, evidence.solved.missing]).toEqual([null, [], []])
  })
})

describe.skipIf(!found.available)('what an agent does to its box is scored', () => {
  const half = {
    test: 'check there [ -d /box/album ]\ncheck done [ -e /box/done ]',
    expected: ['there', 'done'],
    score: 'share' as const,
    limits: { diskMb: 64, pids: 64 },
    commandMs: 2000,
  }
  const deep =
    'd=$(printf "d%.0s" $(seq 250)); for i in $(seq 15); do mkdir $d && cd $d || break; done; touch $(printf "e%.0s" $(seq 220))'

  /** Names and shapes of files, which differ where they are read-only. */
  const names: [string, string][] = [
    ['a name as long as there can be', 'touch $(printf "a%.0s" $(seq 255))'],
    ['a path as long as there can be', deep],
    ['names that are no UTF-8', "mkdir $'\\xff'; echo x > $'\\xff/x'; touch $'\\xfe' $'\\xed\\xa0\\x80'"],
    [
      'names with everything in them',
      `touch -- -- -rf '$(id)' $'a\\nb' ' ' '*' '\\' '"' "'" '~' '.box-1~'; mkdir 'a;b'; touch 'a;b/--args'`,
    ],
    [
      'folders that are closed',
      'mkdir -p a/b; touch a/f a/b/f; chmod 0555 a a/b; mkdir none; touch none/f; chmod 0 none; touch secret; chmod 0 secret',
    ],
    [
      'links, pipes and sockets',
      `ln -s . here; ln -s loop loop; ln -s /proc proc; mkfifo p; perl -e 'socket(S,1,1,0); bind(S, pack("S a*",1,"s"))'`,
    ],
  ]

  test.each<[string, string]>([
    ...names,
    [
      'a sparse file and very many small ones',
      `truncate -s 60M big; perl -e 'for(1..19000){open F,">f$_"; print F "x"; close F}'`,
    ],
    [
      'very many paths that are no UTF-8',
      `perl -e 'for (1..15) { $d = "\\xff" x 250; mkdir $d; chdir $d } for (1..1000) { open F, ">", "\\xfe" x 180 . $_; close F }'`,
    ],
    [
      'links that are long to follow',
      `perl -e '$pad = "./" x 2030; mkdir "end"; symlink $pad . ($_ < 38 ? "l" . ($_ + 1) : "end"), "l$_" for 0..38; symlink "l0", "z$_" for 1..1500'`,
    ],
    ['one file under sixty names', 'head -c 1000000 /dev/zero >a; for i in $(seq 60); do ln a b$i; done'],
    ['a full disk', 'head -c 100000000 /dev/zero >full'],
    ['very many names', 'mkdir many; cd many; perl -e \'for(1..40000){open F,">f$_"}\''],
    [
      'no process left',
      `perl -e 'for(1..200){ last unless defined(my $p = fork); if(!$p){ sleep 1000 } }' & sleep 0.5`,
    ],
    ['a shell that stops itself', 'kill -STOP $$'],
    ['everything killed', 'kill -9 -1; kill -9 $PPID'],
    ['descriptors closed', 'for fd in $(ls /proc/self/fd); do eval "exec $fd>&-"; done; sleep 0.1; exit 3'],
    [
      'its memory full when it is read',
      `(perl -e 'my @a; while(1){ push @a, "x" x 4096 }' &) ; for i in $(seq 40); do (perl -e 'my $a = "x" x 20e6; sleep 1000' &); done; sleep 0.5`,
    ],
    ['what it has taken away', 'rm -rf /tmp /home /run /var; cd /; mv /box /moved; mkdir -p /box/album'],
    [
      'a process that cannot be ended',
      `perl -e 'my $p = $$; if (!fork) { syscall(101, 0x4206, $p, 0, 0); sleep 1000 } select undef, undef, undef, 0.2'`,
    ],
  ])('%s', async (_, command) => {
    const { chosen, reward } = await play({ ...half, commands: [`mkdir album; touch album/x; ${command}`] })
    expect([chosen.fault, reward]).toEqual([null, 0.5])
  })

  test('in copies that it may change as well', async () => {
    const { chosen, reward } = await play({
      ...half,
      commands: ['mkdir album empty', ...names.map(([, command]) => command)],
    })
    expect([chosen.fault, reward]).toEqual([null, 0.5])
  })

  test('the same by what it left for graded programs', async () => {
    const { chosen, reward } = await play({
      ...half,
      commands: [
        'mkdir album; touch album/x',
        `cat >ends.sh <<'S'
case $1 in
  bomb) perl -e 'for(1..200){ last unless defined(my $p = fork); if(!$p){ sleep 1000 } }' & ;;
  stop) kill -STOP $$ ;;
  trace) perl -e 'my $p = $$; if (!fork) { syscall(101, 0x4206, $p, 0, 0); sleep 1000 } select undef, undef, undef, 0.2' ;;
  memory) perl -e 'my @a; push @a, "x" x 1e6 while 1' ;;
  fill) head -c 900000000 /dev/zero >/tmp/full ;;
  gone) rm -rf /box /tmp; kill -9 -1 ;;
esac
S`,
      ],
      test: `for how in trace memory fill stop bomb gone; do graded bash /box/ends.sh $how >/dev/null 2>&1; done\n${half.test}`,
    })
    expect([chosen.fault, reward]).toEqual([null, 0.5])
  })

  test('a program that takes all the time there is', async () => {
    const { chosen, reward, evidence } = await play({
      ...half,
      commands: ['mkdir album; echo sleep 60 >slow.sh'],
      test: `for i in 1 2 3; do graded bash /box/slow.sh; done\n${half.test}`,
      grade: '8s',
    })
    expect([chosen.fault, reward, evidence.solved.refused]).toEqual([null, 0, 'did_not_end'])
  })

  test('and what was not kept is said', async () => {
    const { chosen, reward } = await play({
      ...half,
      limits: { diskMb: 128 },
      commands: ['mkdir album; head -c 70000000 /dev/zero >done; ln -s /etc/passwd album/l'],
    })
    expect([chosen.fault, reward]).toEqual([null, 0.5])
    expect(chosen.counts.flags).toEqual({ artefacts_skipped: 1 })
  })
})
