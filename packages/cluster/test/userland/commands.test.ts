import assert from "node:assert/strict";
import { test } from "node:test";
import { runScript } from "./interpreted.ts";

const LINES = "printf 'pear 3\\napple 10\\nfig 2\\napple 10\\n'";

/** Scripts, and what they write. */
const WRITES: Record<string, [script: string, output: string][]> = {
  grep: [
    [`${LINES} | grep apple`, "apple 10\napple 10\n"],
    [`${LINES} | grep -v -E '^(pear|fig)'`, "apple 10\napple 10\n"],
    [`${LINES} | grep -c 'p.*[0-9]\\+'`, "3\n"],
    [`${LINES} | grep -iq PEAR && echo yes; echo x | grep y; echo $?`, "yes\n1\n"],
    ["echo 'a=1 b=22' | grep -oE '[0-9]+'", "1\n22\n"],
    ["echo 'a.b' | grep -F 'a.b'; echo axb | grep -F 'a.b'; echo $?", "a.b\n1\n"],
    ["echo foobar | grep -w foo; echo 'a foo' | grep -w foo; echo 'foo x' | grep -x foo; echo $?", "a foo\n1\n"],
    [
      "grep x /none; echo $?; grep '[' /etc/passwd; echo $?",
      "grep: /none: No such file or directory\n2\ngrep: bad regex '[': Unmatched [, [^, [:, [., or [=\n2\n",
    ],
    [`${LINES} | grep -m1 apple; ${LINES} | egrep 'pear|fig' | wc -l`, "apple 10\n2\n"],
    ["env | grep -q '^HOME=' || echo none", "none\n"],
  ],
  tar: [
    [
      "mkdir -p /a/b; echo one > /a/b/f; ln -s f /a/b/l; chmod 750 /a/b/f; tar cf - -C /a b | tar xf - -C /tmp; cat /tmp/b/f; readlink /tmp/b/l; stat -c %a /tmp/b/f",
      "one\nf\n750\n",
    ],
    ["echo x > /f; tar -cf /t.tar /f 2>&1; tar tf /t.tar", "tar: removing leading '/' from member names\nf\n"],
    [
      "n=$(printf 'long%.0s' $(seq 1 50)); echo x > /tmp/$n; tar c -C /tmp $n | tar x -C /; cat /$n | wc -c; ls /$n | wc -c",
      "2\n202\n",
    ],
    ["dd if=/dev/zero of=/big bs=1000 count=333 2>/dev/null; tar c big | tar x -C /tmp; wc -c < /tmp/big", "333000\n"],
    [
      "tar c /none 2>&1 > /dev/null; echo $?",
      "tar: removing leading '/' from member names\ntar: /none: No such file or directory\ntar: error exit delayed from previous errors\n1\n",
    ],
    [
      "echo junk | tar x; echo $?; tar c; echo $?",
      "tar: short read\n1\ntar: cowardly refusing to create an empty archive\n1\n",
    ],
  ],
  sed: [
    ["echo hello | sed 's/l/L/'; echo hello | sed 's/l/L/g'", "heLlo\nheLLo\n"],
    ["echo /a/b | sed 's#/#-#g'; echo a/b | sed 's/\\//-/'", "-a-b\na-b\n"],
    ["echo 'k: v' | sed 's/\\(.*\\): \\(.*\\)/\\2=\\1/'", "v=k\n"],
    ["echo 'k: v' | sed -E 's/(.*): (.*)/[&] \\2=\\1/'", "[k: v] v=k\n"],
    ["seq 1 5 | sed -n '2,3p'; seq 1 3 | sed '2d'; seq 1 4 | sed -n '3,$p'", "2\n3\n1\n3\n3\n4\n"],
    ["seq 1 12 | sed -n '/^1/p'; echo Foo | sed 's/foo/bar/I'", "1\n10\n11\n12\nbar\n"],
    ["echo abc | sed 's/a/1/;s/c/3/'; echo 'a;b' | sed 's/;/:/'", "1b3\na:b\n"],
    ["echo baaac | sed 's/a*/x/g'; echo abc | sed -n 's/b/X/p'", "xbxcx\naXc\n"],
    ["echo 'a&b' | sed 's/&/\\&amp;/'; echo a | sed 's/a/1\\n2/'", "a&amp;b\n1\n2\n"],
    ["echo one > /f; sed -i 's/one/two/' /f; cat /f; echo x | sed y; echo $?", "two\nsed: unsupported command: y\n1\n"],
    ["echo '$HOME costs $1' | sed 's/\\$1/2/'", "$HOME costs 2\n"],
  ],
  awk: [
    [`${LINES} | awk '{print $2}'`, "3\n10\n2\n10\n"],
    [`${LINES} | awk '/^a/ {print $1, NR; }'`, "apple 2\napple 4\n"],
    ["echo a:b:c | awk -F: '{print $1\"-\"$NF, NF}'", "a-c 3\n"],
    ["echo 'x y' | awk '{print}'; echo 'x y' | awk '/y/'", "x y\nx y\n"],
    [
      "echo 'a b' | awk '{print $2 \", \" $1}'; echo | awk 'BEGIN {x}'; echo $?",
      "b, a\nawk: this program is more than a simulated container understands: BEGIN {x}\n2\n",
    ],
  ],
  "head and tail": [
    ["seq 1 20 | head -n 2; seq 1 20 | head -3 | tail -1; seq 1 20 | tail -n 2", "1\n2\n3\n19\n20\n"],
    ["seq 1 5 | tail -n +4; echo abcdef | head -c 3; echo; echo abcdef | tail -c 3", "4\n5\nabc\nef\n"],
    ["seq 1 12 | head | wc -l; head -n 1 /etc/passwd", "10\nroot:x:0:0:root:/root:/bin/sh\n"],
    ["(head -n 1; cat) < /etc/hostname; { read a; cat; } <<EOF\n1\n2\n3\nEOF", "pod\n2\n3\n"],
    ["printf 'no end' | head -n 1; printf 'a\\n\\nb' | tail -n 2", "no end\n\nb\n"],
  ],
  "sort, uniq and wc": [
    [`${LINES} | sort | uniq -c | sort -rn | head -n 1`, "      2 apple 10\n"],
    [
      "printf '10\\n9\\n100\\n' | sort -n; printf 'b\\na\\nb\\n' | sort -u; printf 'a\\nb\\n' | sort -r",
      "9\n10\n100\na\nb\nb\na\n",
    ],
    ["printf 'a b\\nc\\n' | wc; printf 'a b\\nc' | wc -l; echo 'a b  c' | wc -w; printf é | wc -c", "2 3 6\n1\n3\n2\n"],
    ["seq 1 1000 | sort -rn | head -n 3 | tr '\\n' ' '", "1000 999 998 "],
  ],
  "cut, tr and tee": [
    [
      "echo a,b,c,d | cut -d, -f2,4; echo a,b,c,d | cut -d, -f3-; echo abcdef | cut -c2-4; echo abc | cut -d, -f2",
      "b,d\nc,d\nbcd\nabc\n",
    ],
    [
      "echo Hello | tr a-z A-Z; echo Hello | tr '[:upper:]' '[:lower:]'; echo a-b | tr -d -- -; echo aabb | tr -s ab",
      "HELLO\nhello\nab\nab\n",
    ],
    ["echo 'a1b2é' | tr -dc 'a-z\\n'; printf 'a:b:c' | tr ':' '\\n'", "ab\na\nb\nc"],
    ["echo x | tee /f /g; echo y | tee -a /f; cat /f /g", "x\ny\nx\ny\nx\n"],
  ],
  "base64, digests and bytes": [
    [
      "printf hello | base64; echo aGVsbG8= | base64 -d; echo; printf 'aGVs\\nbG8=' | base64 -d",
      "aGVsbG8=\nhello\nhello",
    ],
    [
      "printf hello | md5sum; printf hello > /f; sha256sum /f | cut -c1-8",
      "5d41402abc4b2a76b9719d911017c592  -\n2cf24dba\n",
    ],
    [
      "printf 'hello, wide world' > /f; hexdump -C /f | cut -c1-20",
      "00000000  68 65 6c 6\n00000010  64        \n00000011\n",
    ],
    [
      "head -c 200000 /dev/zero | base64 | wc -c; head -c 100000 /dev/zero | md5sum",
      "266669\n0019d23bef56a136a1891211d7007f6f  -\n",
    ],
    ["dd if=/dev/zero of=/f bs=1k count=3; wc -c < /f", "3+0 records in\n3+0 records out\n3072\n"],
  ],
  "printf and seq": [
    [
      "printf '%s-%d\\n' a 1 b 2; printf '%5s|%-5s|%05d\\n' ab cd 42; printf '%x %X %%\\n' 255 255",
      "a-1\nb-2\n   ab|cd   |00042\nff FF %\n",
    ],
    [
      "printf '%.2s\\n' abcdef; printf 'a\\tb\\101\\n'; printf '%b\\n' 'x\\ty'; printf plain x y; echo",
      "ab\na\tbA\nx\ty\nplain\n",
    ],
    ["seq 3; seq 2 4; seq 0 5 10; seq 3 -1 1; seq 1 10000 | wc -l", "1\n2\n3\n2\n3\n4\n0\n5\n10\n3\n2\n1\n10000\n"],
  ],
  conditions: [
    ["[ a = a ] && [ 1 -lt 2 ] && [ ! -e /none ] && [ a = a -a b = b ] && echo yes", "yes\n"],
    ["[ \\( a = b -o c = c \\) -a d = d ] && echo yes; [ -f /etc/passwd -a -d /etc ] && echo yes", "yes\nyes\n"],
    [
      "[[ abc == a* ]] && echo yes; [[ v1.36 =~ ^v[0-9]+\\.[0-9]+$ ]] && echo yes; [ 1 -eq x ]; echo $?",
      "yes\nyes\n[: x: bad number\n2\n",
    ],
  ],
  files: [
    [
      "mkdir -p /a/b; echo 1 > /a/b/x; echo 2 > /a/y; find /a -name '*' -type f; cp -r /a /c; cat /c/b/x; rm -r /a; ls /a",
      "/a/b/x\n/a/y\n1\nls: /a: No such file or directory\n",
    ],
    [
      "echo x > /f; mv /f /tmp; ls /tmp; mv /tmp/f /tmp/g; ls /tmp; chmod -R 700 /tmp; stat -c %a /tmp/g",
      "f\ng\n700\n",
    ],
    [
      "echo /etc/host*; cd /etc; echo h*s; echo '*' \"*\" \\* nothing*; x='h*'; echo $x \"$x\"",
      "/etc/hostname /etc/hosts\nhosts\n* * * nothing*\nhostname hosts h*\n",
    ],
    ["seq 1 3 | xargs echo; seq 1 2 | xargs -n 1 | wc -w", "1 2 3\n2\n"],
    ["head -c 5 /dev/zero | wc -c; cat /dev/null | wc -c; head -c 8 /dev/urandom | wc -c", "5\n0\n8\n"],
  ],
  shell: [
    ["printf 'a b  c\\nd\\n' | while read x y; do echo \"[$x][$y]\"; done", "[a][b  c]\n[d][]\n"],
    [
      `f=/a/b.tar.gz; echo \${f%.*} \${f%%.*} \${f#*/} \${f##*/}; x=aXbXc; echo \${x%X*} \${x%%X*} \${x#*X} \${x##*X}`,
      "/a/b.tar /a/b a/b.tar.gz b.tar.gz\naXb a bXc c\n",
    ],
    [
      "case foo.txt in *.md) echo md;; *.txt|*.text) echo text;; esac; case '' in ?*) echo some;; *) echo none;; esac",
      "text\nnone\n",
    ],
    [
      "false && echo a || echo b; true && true && echo c; false || false || echo d; true || echo e && echo f",
      "b\nc\nd\nf\n",
    ],
    ["set -e; false && true; echo on; true && false || echo still; (exit 3) || echo $?", "on\nstill\n3\n"],
    ["(exit 4) & wait; echo $?; x=$(echo a; exit 5); echo $? $x", "4\n5 a\n"],
    [
      "echo $((1 + 2 * 3)) $(( (1+2) * 3 )) $((7 / 2)) $((1 ? 2 : 3)) $((x = 4)) $x $((x++)) $x $((-3 % 2))",
      "7 9 3 2 4 4 4 5 -1\n",
    ],
    ["x='a\nb\n\n'; echo \"$(printf '%s' \"$x\")\" | wc -l; echo $(printf 'a\\n\\n b\\n')", "2\na b\n"],
    ['set -- a \'b c\' d; for i in "$@"; do echo $i; done; shift; echo $# $1; echo "$*"', "a\nb c\nd\n2 b c\nb c d\n"],
    ["cat <<EOF | tr a-z A-Z\nx$((1+1))\nEOF", "X2\n"],
    ["f() { local x=$1; echo $x; [ $x -gt 0 ] && f $((x-1)); }; f 3 | tr '\\n' ' '", "3 2 1 0 "],
  ],
};

for (const [what, cases] of Object.entries(WRITES)) {
  test(`${what}: scripts get what they expect`, async () => {
    for (const [script, output] of cases) assert.equal((await runScript(script)).output, output, script);
  });
}
