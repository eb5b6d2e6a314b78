# Finds CppUTest by its files: the CMake package of Debian's libcpputest-dev 4.0 computes a wrong
# prefix and stops. Defines the target CppUTest::CppUTest.
find_path(CppUTest_INCLUDE_DIR CppUTest/TestHarness.h)
find_library(CppUTest_LIBRARY CppUTest)
find_library(CppUTest_EXT_LIBRARY CppUTestExt)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CppUTest DEFAULT_MSG
  CppUTest_LIBRARY CppUTest_EXT_LIBRARY CppUTest_INCLUDE_DIR)
mark_as_advanced(CppUTest_INCLUDE_DIR CppUTest_LIBRARY CppUTest_EXT_LIBRARY)

if(CppUTest_FOUND AND NOT TARGET CppUTest::CppUTest)
  add_library(CppUTest::CppUTest INTERFACE IMPORTED)
  set_target_properties(CppUTest::CppUTest PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${CppUTest_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${CppUTest_EXT_LIBRARY};${CppUTest_LIBRARY}")
endif()
