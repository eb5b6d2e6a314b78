# One ctest per TEST of a CppUTest program. CppUTest's own discovery runs the program without the
# emulator, so it fails in cross builds.
#   cpputest_discover(target [LABEL label] [SERIAL regex])
# LABEL: of every test. SERIAL: tests of such a name run alone.
set(CPPUTEST_LIST_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/list_tests.cmake)

function(cpputest_discover target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;SERIAL" "")
  set(tests_file ${CMAKE_CURRENT_BINARY_DIR}/${target}_tests.cmake)
  set(include_file ${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND}
      "-DPROGRAM=$<TARGET_FILE:${target}>"
      "-DEMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}"
      "-DDIRECTORY=${PROJECT_SOURCE_DIR}"
      "-DTESTS_FILE=${tests_file}"
      "-DLABEL=${arg_LABEL}"
      "-DSERIAL=${arg_SERIAL}"
      -P ${CPPUTEST_LIST_SCRIPT}
    BYPRODUCTS ${tests_file}
    VERBATIM)
  file(WRITE ${include_file}
    "if(EXISTS \"${tests_file}\")\n"
    "  include(\"${tests_file}\")\n"
    "else()\n"
    "  add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)\n"
    "endif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include_file})
endfunction()
