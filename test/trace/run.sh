#!/bin/sh
# run.sh COLLATE_TRACE: plays short schedules through the program and compares what it writes, and
# its exit status, with what its own description promises.
trace=$1
failures=0

# expect NAME STATUS EXPECTED ARGUMENTS...: the schedule is standard input.
expect() {
  name=$1 status=$2 expected=$3
  shift 3
  got=$("$trace" "$@" 2>/dev/null)
  code=$?
  if [ "$got" != "$expected" ] || [ "$code" != "$status" ]; then
    printf '%s: exit status %s, expected %s\n--- expected\n%s\n--- got\n%s\n' \
      "$name" "$code" "$status" "$expected" "$got"
    failures=$((failures + 1))
  fi
}

expect 'strict waits for every queue, ties go by name' 0 '0 a 1
0 b 1
0 a 2
0 a 3' strict <<'END'
# blanks, comments and empty lines are skipped

queue 0 b
queue 0 a
add 0 a 1
  add 0 b 1
add 0 a 2
add 0 a 3
add 0 b 4
END

expect 'of what lies before the common start one datum stays; a flushed queue may be added again' \
  0 '0 a 6
0 b 7
0 a 9
error unknown_sensor
error finish
0 a 3' strict <<'END'
queue 0 a
queue 0 b
add 0 a 5
add 0 b 7
add 0 a 6
add 0 a 9
flush
add 0 a 10
finish 0 a
queue 0 a
add 0 a 3
flush
END

expect 'a finished queue is not waited for' 0 '0 a 1
0 a 2' strict <<'END'
queue 0 a
queue 0 b
add 0 a 1
add 0 a 2
finish 0 b
END

expect 'refused calls are told, bad lines too, and what follows is played' 1 'error queue
error unknown_sensor
error finish
error line
error line
error line
error line
error line
error line
0 a 4' strict <<'END'
queue 0 a
queue 0 a
add 0 z 3
finish 0 z
bogus
add 0 a x
add x a 1
flush 1
now 5
add 0 a
add 0 a 4
END

expect 'live waits from the stamp, and tells what the gate drops' 0 'error duplicate
error backward
error future
0 a 900
error late
0 b 950' live --max-wait 200 <<'END'
queue 0 a
queue 0 b
now 1000
add 0 a 900
add 0 a 900
add 0 a 800
add 0 a 2000000
now 1099
now 1101
add 0 b 850
add 0 b 950
now 1150
now 1200
END

expect 'a full queue lets the oldest leave' 0 '0 a 1
error forced' strict --capacity 2 <<'END'
queue 0 a
queue 0 b
add 0 a 1
add 0 a 2
add 0 a 3
END

expect 'by trajectory, none waits for another' 0 '0 a 1
1 a 9
0 a 2' strict --by-trajectory <<'END'
queue 0 a
queue 1 a
add 0 a 1
add 1 a 9
add 0 a 2
END

last_line=$(mktemp)
printf 'queue 0 a\nadd 0 a 1' >"$last_line"
expect 'a last line needs no end' 0 '0 a 1' strict <"$last_line"
rm "$last_line"

expect 'no policy is a usage error' 2 '' </dev/null
expect 'max-wait belongs to live' 2 '' strict --max-wait 3 </dev/null

[ "$failures" = 0 ]
