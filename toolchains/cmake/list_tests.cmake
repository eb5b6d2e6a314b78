# Run after a test program was built: writes one add_test line per TEST.
# In: PROGRAM, EMULATOR (a list, may be empty), DIRECTORY (where tests run), TESTS_FILE, LABEL and
# SERIAL (may be empty).
execute_process(COMMAND ${EMULATOR} ${PROGRAM} -ln
  OUTPUT_VARIABLE listed RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} -ln: ${result}")
endif()

string(REGEX MATCHALL "[^ \r\n]+" names "${listed}")
set(lines "")
foreach(name IN LISTS names)
  string(REGEX REPLACE "\\..*" "" group "${name}")
  string(REGEX REPLACE "^[^.]*\\." "" test "${name}")
  set(command "")
  foreach(word IN LISTS EMULATOR PROGRAM ITEMS -sg ${group} -sn ${test})
    string(APPEND command " [==[${word}]==]")
  endforeach()
  string(APPEND lines "add_test([==[${name}]==]${command})\n")
  set(properties "TIMEOUT 60 WORKING_DIRECTORY [==[${DIRECTORY}]==]")
  if(LABEL)
    string(APPEND properties " LABELS [==[${LABEL}]==]")
  endif()
  if(SERIAL AND name MATCHES "${SERIAL}")
    string(APPEND properties " RUN_SERIAL TRUE")
  endif()
  string(APPEND lines "set_tests_properties([==[${name}]==] PROPERTIES ${properties})\n")
endforeach()
file(WRITE "${TESTS_FILE}" "${lines}")
