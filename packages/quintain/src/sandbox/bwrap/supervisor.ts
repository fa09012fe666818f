/**
 * The first process of a bwrap box: it starts commands, hands on their output, serves files and carries connections, all
 * over one socket pair to us (descriptor 3, frames as in `channel.ts`). It is the only thing in the box that is ours.
 *
 * Perl, without any module, since it starts in a few milliseconds, forks, waits and selects, and is an essential package
 * of Debian and its kin; Node takes ten times as long to start and as much memory (see decision 0006). What the box can
 * do to it: nothing. It is process 1 of its process namespace, which ignores every signal from within; it is not
 * dumpable, so that no process of the same user may trace it, read its memory or take its descriptors; and all paths
 * are resolved by it, inside, so that no link leads to the host.
 *
 * Arguments: system call numbers and flags of this machine's architecture, see `machine.ts`; then limits.
 */
export const supervisor = String.raw`
my ($prctl, $setsid, $sigmask, $signalfd, $prlimit, $clock, $nofollow, $data, $nproc) = map { int } @ARGV;
syscall($prctl, 4, 0, 0, 0, 0);
# Descriptors that we inherited from whoever started us, and did not mean to. 436 is close_range everywhere.
if (syscall(436, 4, 0xffffffff, 0) != 0) {
  opendir my $own, '/proc/self/fd' or die "descriptors: $!";
  for my $fd (grep { /^\d+\z/ && $_ > 3 } readdir $own) { open my $one, '<&=', $fd and $fd != fileno $own and close $one }
}
$0 = 'box';
$| = 1;
umask 022;
$SIG{PIPE} = 'IGNORE';
my $chld = pack 'Q', 1 << 16;
syscall($sigmask, 0, $chld, 0, 8);
my $sigfd = syscall($signalfd, -1, $chld, 8, 526336);
open my $signals, '<&=', $sigfd or die "signals: $!";
open my $ch, '+<&=', 3 or die "channel: $!";
binmode $ch; binmode $signals;
fcntl $ch, 2, 1;
my ($inbuf, %run, %pid, %drain, %file, %listen, %conn, $nextconn) = ('');
my %reader;

sub emit {
  my ($type, $id, $body) = @_;
  my $frame = pack('a N N', $type, $id, length $body) . $body;
  my $at = 0;
  while ($at < length $frame) {
    my $n = syswrite $ch, $frame, length($frame) - $at, $at;
    if (!defined $n) { next if $! == 4; exit 0 }
    $at += $n;
  }
}
sub fields { join '', map { pack 'N/a*', $_ } @_ }
sub reply { my $id = shift; emit('R', $id, fields(@_)) }
sub nonblock { fcntl $_[0], 4, (fcntl $_[0], 3, 0) | 2048 }

sub why {
  my $e = $! + 0;
  return 'missing' if $e == 2;
  return 'denied' if $e == 13 || $e == 1 || $e == 30 || $e == 16 || $e == 26;
  return 'no_space' if $e == 28 || $e == 122 || $e == 12;
  return 'too_large' if $e == 36 || $e == 27;
  return 'wrong_kind';
}

# Where a path leads, link by link; whether one was followed; undef with $! set where it leads nowhere.
sub walk {
  my @rest = grep { length } split m{/}, shift;
  my ($at, $links) = ('', 0);
  while (@rest) {
    my $part = shift @rest;
    next if $part eq '.';
    if ($part eq '..') { $at =~ s{/[^/]*\z}{}; next }
    my $next = "$at/$part";
    if (-l $next) {
      if (++$links > 40) { $! = 40; return }
      my $to = readlink $next;
      return unless defined $to;
      $at = '' if $to =~ m{^/};
      unshift @rest, grep { length } split m{/}, $to;
      next;
    }
    $at = $next;
  }
  return ($at eq '' ? '/' : $at, $links);
}

sub parents {
  my $path = shift;
  my $at = '';
  my @parts = grep { length } split m{/}, $path;
  pop @parts;
  for my $part (@parts) {
    $at .= "/$part";
    next if -d $at;
    mkdir $at, 0755 or return 0;
  }
  return 1;
}

sub kind { my $m = shift; my $t = $m & 0170000; $t == 0100000 ? 'f' : $t == 0040000 ? 'd' : $t == 0120000 ? 'l' : 'o' }

sub slurp {
  my ($path, $max, $each) = @_;
  sysopen my $fh, $path, $nofollow | 2048 | 524288 or return why();
  my @s = stat $fh;
  return 'wrong_kind' unless @s && kind($s[2]) eq 'f';
  return 'too_large' if $s[7] > $max;
  my $total = 0;
  while (1) {
    my $n = sysread $fh, my $buf, 262144;
    return why() unless defined $n;
    last unless $n;
    $total += $n;
    return 'too_large' if $total > $max;
    $each->($buf);
  }
  return ('', $s[2] & 07777);
}

sub op_read {
  my ($id, $path, $max) = @_;
  my ($real, $links) = walk($path);
  return reply($id, why(), "$!") unless defined $real;
  my @s = lstat $real or return reply($id, why(), "$!");
  return reply($id, 'outside', 'a link leads out of its folder') if $links && (split m{/}, $real)[1] ne (split m{/}, $path)[1];
  my ($bad, $mode) = slurp($real, $max, sub { emit('D', $id, $_[0]) });
  return reply($id, '', $mode) unless $bad;
  reply($id, $bad, $bad eq 'wrong_kind' ? 'it is no regular file' : $bad eq 'too_large' ? "it has more than $max bytes" : "$!");
}

sub op_write {
  my ($id, $path, $mode) = @_;
  my $new = 1 | 64 | 128 | $nofollow | 524288;
  my ($folder) = $path =~ m{^(.*/)}s;
  my ($at, $fh, $temp) = parents($path);
  # A name that nothing in the box can have taken beforehand.
  for (1 .. 4) {
    last if !$at || ($at = sysopen $fh, $temp = $folder . '.box-' . int(rand 1e9) . '~', $new, 0600) || $! != 17;
    $at = 1;
  }
  # No room in the path for any other name than its own.
  if (!$at && $! == 36 && parents($path)) {
    unlink $path if -l $path || -f $path;
    $temp = $path;
    $at = sysopen $fh, $temp, $new, 0600;
  }
  $file{$id} = { path => $path, temp => $temp, fh => $fh, mode => $mode, bad => $at && $fh ? '' : why(), says => "$!" };
  binmode $fh if $at && $fh;
}
sub op_data {
  my $f = $file{$_[0]} or return;
  return if $f->{bad};
  my $off = 0;
  while ($off < length $_[1]) {
    my $n = syswrite $f->{fh}, $_[1], length($_[1]) - $off, $off;
    if (!defined $n) { $f->{bad} = why(); $f->{says} = "$!"; return }
    $off += $n;
  }
}
sub op_commit {
  my $id = shift;
  my $f = delete $file{$id} or return;
  if (!$f->{bad} && -d $f->{path} && !-l $f->{path}) { $f->{bad} = 'wrong_kind'; $f->{says} = 'it is a folder' }
  if (!$f->{bad}) {
    chmod $f->{mode}, $f->{fh};
    close $f->{fh};
    $f->{temp} eq $f->{path} || rename $f->{temp}, $f->{path} or do { $f->{bad} = why(); $f->{says} = "$!" };
  }
  unlink $f->{temp} if $f->{bad} && $f->{fh};
  reply($id, $f->{bad}, $f->{says});
}

sub op_folder {
  my ($id, $path, $mode) = @_;
  my $ok = parents($path) && (-d $path ? 1 : mkdir $path, 0755);
  return reply($id, why(), "$!") unless $ok;
  chmod $mode, $path;
  reply($id, '', '');
}

sub op_link {
  my ($id, $path, $target) = @_;
  unlink $path if -l $path || -f $path;
  (parents($path) && symlink $target, $path) ? reply($id, '', '') : reply($id, why(), "$!");
}

sub op_list {
  my ($id, $path, $max) = @_;
  my ($real) = walk($path);
  return reply($id, why(), "$!") unless defined $real;
  opendir my $dir, $real or return reply($id, why(), "$!");
  my $count = 0;
  while (defined(my $name = readdir $dir)) {
    next if $name eq '.' || $name eq '..';
    last if ++$count > $max;
    my @s = lstat "$real/$name";
    emit('D', $id, fields($name, @s ? (kind($s[2]), $s[7], $s[2] & 07777) : ('o', 0, 0)));
  }
  reply($id, '', '');
}

# Ends every process of the box but this one.
sub end_all {
  for (1 .. 300) {
    my $there = kill 9, -1;
    reap();
    return unless $there;
    select undef, undef, undef, 0.01;
  }
}

sub op_snapshot {
  my ($id, $bytes, $entries, $names, $still, @paths) = @_;
  end_all() if $still;
  my @stack = reverse @paths;
  while (@stack) {
    my $path = pop @stack;
    my @s = lstat $path;
    my $bad = @s ? '' : why();
    my $kind = @s ? kind($s[2]) : '';
    my $mode = @s ? $s[2] & 07777 : 0;
    my $target = $kind eq 'l' ? readlink($path) // '' : '';
    # What cannot be looked at counts too: its name is told all the same.
    $names -= length($path) + length $target;
    if ($entries-- <= 0 || $names < 0) { emit('D', $id, fields('s', $path, 'too_large')); last }
    if ($bad) { emit('D', $id, fields('s', $path, $bad)) }
    elsif ($kind eq 'l') { emit('D', $id, fields('l', $path, $target)) }
    elsif ($kind eq 'o') { emit('D', $id, fields('s', $path, 'wrong_kind')) }
    elsif ($kind eq 'd') {
      my $dir;
      if (!opendir $dir, $path) { emit('D', $id, fields('s', $path, why())); next }
      emit('D', $id, fields('d', $path, $mode));
      my @within = sort grep { $_ ne '.' && $_ ne '..' } readdir $dir;
      # More than are still to be told, and the one that is too many, nobody gets to.
      splice @within, $entries + 1 if @within > $entries;
      push @stack, map { $path eq '/' ? "/$_" : "$path/$_" } reverse @within;
    } else {
      emit('D', $id, fields('f', $path, $mode));
      my $left = $bytes;
      my ($bad) = slurp($path, $bytes, sub { $left -= length $_[0]; emit('B', $id, $_[0]) });
      if ($bad) { emit('D', $id, fields('s', $path, $bad)) } else { $bytes = $left }
    }
  }
  reply($id, '', '');
}

sub op_exec {
  my ($id, $cwd, $outcap, $errcap, $cpu, $hasin, $vars, @rest) = @_;
  my %env = splice @rest, 0, 2 * $vars;
  my (@in, @out, @err, @fail);
  my $ok = pipe($out[0], $out[1]) && pipe($err[0], $err[1]) && pipe($fail[0], $fail[1]);
  $ok &&= $hasin ? pipe($in[0], $in[1]) : open $in[0], '<', '/dev/null';
  my $pid = $ok ? fork : undef;
  return emit('E', $id, 'no_process') unless defined $pid;
  if (!$pid) {
    close $ch;
    syscall($setsid);
    open STDIN, '<&', $in[0];
    open STDOUT, '>&', $out[1];
    open STDERR, '>&', $err[1];
    my $stop = sub { syswrite $fail[1], $_[0]; kill 9, $$ };
    $stop->('no_folder') unless chdir $cwd;
    my @limits = (4, 0, 0, 0, $cpu, $cpu + 1);
    push @limits, 2, $data, $data if $data;
    push @limits, 6, $nproc, $nproc if $nproc;
    push @limits, 7, 4096, 4096;
    while (my ($what, $soft, $hard) = splice @limits, 0, 3) { syscall($prlimit, 0, $what, pack('QQ', $soft, $hard), 0) }
    my $none = "\0" x 8;
    syscall($sigmask, 2, $none, 0, 8);
    $SIG{$_} = 'DEFAULT' for 'PIPE';
    %ENV = %env;
    my @argv = @rest;
    exec { $argv[0] } @argv;
    my $e = $! + 0;
    $stop->($e == 7 ? 'too_long' : $e == 2 || $e == 20 ? 'not_found' : $e == 11 || $e == 12 ? 'no_process' : 'not_executable');
  }
  close $_ for $in[0], $out[1], $err[1], $fail[1];
  my $r = $run{$id} = { pid => $pid, fail => $fail[0], open => 2 };
  for (['o', $out[0], $outcap], ['p', $err[0], $errcap]) {
    my ($type, $fh, $cap) = @$_;
    my $half = int($cap / 2);
    nonblock($fh);
    $r->{$type} = $reader{fileno $fh} = { id => $id, head => $half, keep => $cap - $half, total => 0, tail => '', type => $type, fh => $fh };
  }
  if ($hasin) { nonblock($in[1]); $r->{stdin} = { fh => $in[1], buf => '' } }
  $pid{$pid} = $id;
}

# Reads what is there. True while the stream is open.
sub pump {
  my $s = shift;
  for (1 .. 16) {
    my $n = sysread $s->{fh}, my $buf, 65536;
    if (!defined $n) { return 1 if $! == 11 || $! == 4; $n = 0 }
    if (!$n) { delete $reader{fileno $s->{fh}}; close $s->{fh}; delete $s->{fh}; return 0 }
    next if $s->{discard};
    $s->{total} += $n;
    if ($s->{head} > 0) {
      my $part = substr $buf, 0, $s->{head}, '';
      $s->{head} -= length $part;
      emit($s->{type}, $s->{id}, $part);
    }
    next unless length $buf;
    $s->{tail} .= $buf;
    substr($s->{tail}, 0, length($s->{tail}) - $s->{keep}, '') if length $s->{tail} > 2 * $s->{keep} + 65536;
  }
  return 1;
}

sub feed {
  my $r = shift;
  my $in = $r->{stdin} or return;
  while (length $in->{buf}) {
    my $n = syswrite $in->{fh}, $in->{buf}, 65536;
    if (!defined $n) {
      return if $! == 11 || $! == 4;
      delete $r->{stdin}; return;
    }
    substr $in->{buf}, 0, $n, '';
  }
  delete $r->{stdin} if $in->{end};
}

sub reap {
  sysread $signals, my $ignored, 1280;
  while ((my $pid = waitpid -1, 1) > 0) {
    my $status = $?;
    my $id = delete $pid{$pid};
    next unless defined $id && $run{$id};
    $run{$id}{status} = $status;
    $run{$id}{until} = now() + 0.1;
  }
}

sub settle {
  my $id = shift;
  my $r = $run{$id};
  my $open = 0;
  for my $type ('o', 'p') {
    my $s = $r->{$type};
    pump($s) if $s->{fh};
    $open++ if $s->{fh};
  }
  return if $open && now() < $r->{until};
  my @totals;
  for my $type ('o', 'p') {
    my $s = $r->{$type};
    my $keep = $s->{keep};
    substr($s->{tail}, 0, length($s->{tail}) - $keep, '') if length $s->{tail} > $keep;
    emit($type, $id, $s->{tail}) if length $s->{tail};
    push @totals, $s->{total};
    $s->{discard} = 1;
    $s->{tail} = '';
  }
  sysread $r->{fail}, my $fail, 32;
  delete $run{$id};
  return emit('E', $id, $fail) if length $fail;
  emit('X', $id, fields($r->{status} >> 8, $r->{status} & 127, @totals));
}

sub now {
  my $at = "\0" x 16;
  syscall($clock, 1, $at);
  my ($seconds, $nanoseconds) = unpack 'qq', $at;
  return $seconds + $nanoseconds / 1e9;
}

# A command and all that it started and that is not yet orphaned, in whatever group or session that is.
sub op_kill {
  my $r = $run{$_[0]} or return;
  return if defined $r->{status};
  my %doomed = ($r->{pid} => 1);
  for my $round (1 .. 3) {
    my %parent;
    if (opendir my $proc, '/proc') {
      for (grep { /^\d+\z/ } readdir $proc) {
        open my $stat, '<', "/proc/$_/stat" or next;
        my $line = <$stat> // '';
        $parent{$_} = $1 if $line =~ /\) \S (\d+)/;
      }
    }
    my $more = 1;
    while ($more) {
      $more = 0;
      for (keys %parent) { if (!$doomed{$_} && $doomed{$parent{$_}}) { $doomed{$_} = 1; $more = 1 } }
    }
    kill 9, -$r->{pid};
    kill 9, grep { $_ != 1 } keys %doomed;
  }
}

sub op_listen {
  my ($id, $kind, $where, $most) = @_;
  my $s;
  my $ok = $kind eq 'port'
    ? socket($s, 2, 1, 0) && setsockopt($s, 1, 2, 1) && bind($s, pack('S n a4 x8', 2, $where, "\x7f\0\0\1"))
    : parents($where) && socket($s, 1, 1, 0) && bind($s, pack('S a*', 1, $where));
  return reply($id, why(), "$!") unless $ok && listen $s, 128;
  nonblock($s);
  $listen{fileno $s} = { id => $id, fh => $s, most => $most };
  reply($id, '', '');
}
sub op_peer {
  my ($id, $body) = @_;
  my $c = $conn{$id} or return;
  $c->{buf} .= $body;
  push_out($c);
}
sub push_out {
  my $c = shift;
  while (length $c->{buf}) {
    my $n = syswrite $c->{fh}, $c->{buf}, 262144;
    if (!defined $n) {
      return if $! == 11 || $! == 4;
      return hang_up($c);
    }
    substr $c->{buf}, 0, $n, '';
  }
  shutdown $c->{fh}, 1 if $c->{end};
  hang_up($c) if $c->{end} && $c->{eof};
}
sub hang_up { my $c = shift; emit('z', $c->{id}, '') unless $c->{eof} && $c->{end}; delete $conn{$c->{id}}; close $c->{fh} }

my %ops = (
  x => \&op_exec, r => \&op_read, w => \&op_write, l => \&op_list, s => \&op_snapshot, m => \&op_folder, L => \&op_link,
  n => \&op_listen, k => \&op_kill, c => \&op_commit,
);
sub take {
  my ($type, $id, $body) = @_;
  if ($type eq 'd') { return op_data($id, $body) }
  if ($type eq 'i') { my $r = $run{$id}; if ($r && $r->{stdin}) { $r->{stdin}{buf} .= $body; feed($r) } return }
  if ($type eq 'e') { my $r = $run{$id}; if ($r && $r->{stdin}) { $r->{stdin}{end} = 1; feed($r) } return }
  if ($type eq 'p') { return op_peer($id, $body) }
  if ($type eq 'f') { my $c = $conn{$id} or return; $c->{end} = 1; return push_out($c) }
  if ($type eq 'z') { my $c = delete $conn{$id} or return; close $c->{fh}; return }
  $ops{$type}->($id, unpack '(N/a*)*', $body);
}

emit('H', 0, '');
while (1) {
  my ($r, $w) = ('', '');
  vec($r, fileno $ch, 1) = 1;
  vec($r, $sigfd, 1) = 1;
  vec($r, $_, 1) = 1 for keys %reader, grep { keys %conn < $listen{$_}{most} } keys %listen;
  my @idle;
  for (values %run) {
    vec($w, fileno $_->{stdin}{fh}, 1) = 1 if $_->{stdin} && length $_->{stdin}{buf};
    push @idle, $_->{until} if defined $_->{status};
  }
  for (values %conn) {
    vec($r, fileno $_->{fh}, 1) = 1 unless $_->{eof};
    vec($w, fileno $_->{fh}, 1) = 1 if length $_->{buf};
  }
  select $r, $w, undef, @idle ? 0.02 : undef;
  reap() if vec $r, $sigfd, 1;
  for my $fd (keys %reader) { pump($reader{$fd}) if $reader{$fd} && vec $r, $fd, 1 }
  for (values %run) { feed($_) if $_->{stdin} && vec $w, fileno $_->{stdin}{fh}, 1 }
  for my $id (keys %run) { settle($id) if defined $run{$id}{status} }
  for my $l (values %listen) {
    next unless vec $r, fileno $l->{fh}, 1;
    while (keys %conn < $l->{most} && accept my $s, $l->{fh}) {
      nonblock($s);
      my $id = ++$nextconn;
      $conn{$id} = { id => $id, fh => $s, buf => '' };
      emit('C', $id, fields($l->{id}));
    }
  }
  for my $c (values %conn) {
    next unless $conn{$c->{id}};
    push_out($c) if vec $w, fileno $c->{fh}, 1;
    next unless $conn{$c->{id}} && vec $r, fileno $c->{fh}, 1;
    my $n = sysread $c->{fh}, my $buf, 65536;
    if (!defined $n) { hang_up($c) unless $! == 11 || $! == 4; next }
    if ($n) { emit('P', $c->{id}, $buf) }
    else { $c->{eof} = 1; emit('F', $c->{id}, ''); hang_up($c) if $c->{end} && !length $c->{buf} }
  }
  if (vec $r, fileno $ch, 1) {
    my $n = sysread $ch, $inbuf, 1048576, length $inbuf;
    exit 0 if defined $n && !$n;
    my $at = 0;
    while (length($inbuf) - $at >= 9) {
      my ($type, $id, $len) = unpack 'a N N', substr $inbuf, $at, 9;
      last if length($inbuf) - $at - 9 < $len;
      take($type, $id, substr $inbuf, $at + 9, $len);
      $at += 9 + $len;
    }
    substr $inbuf, 0, $at, '' if $at;
  }
}
`
