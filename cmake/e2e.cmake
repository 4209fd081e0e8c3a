# SPDX-License-Identifier: Apache-2.0
add_executable(read_many tests/read_many.cc)
target_link_libraries(read_many PRIVATE kith_models)
add_executable(use_many tests/use_many.cc)
target_link_libraries(use_many PRIVATE kith_api PkgConfig::XXHASH)

# End-to-end tests: one CTest test for each test method of tests/e2e_*.py, so that they run side
# by side and are named one by one. The system's interpreter, because Debian's numpy and gensim
# belong to it, whatever python3 comes first in PATH.
set(KITH_PYTHON /usr/bin/python3 CACHE FILEPATH "Interpreter for the end-to-end tests")
set(KITH_TEST_TIMEOUT 300)
if(KITH_SANITIZE)
  set(KITH_TEST_TIMEOUT 1500)
endif()
set(python_environment
    KITH=$<TARGET_FILE:kith> KITH_DYNAMIC=$<TARGET_FILE:kith_dynamic>
    KITH_SANITIZE=${KITH_SANITIZE} KITH_SOURCE=${PROJECT_SOURCE_DIR}
    KITH_BUILD=${PROJECT_BINARY_DIR} CMAKE=${CMAKE_COMMAND}
    TMPDIR=${PROJECT_BINARY_DIR}/tmp PYTHONDONTWRITEBYTECODE=1)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/tmp)
file(GLOB scripts CONFIGURE_DEPENDS tests/e2e_*.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${scripts})
foreach(script IN LISTS scripts)
  get_filename_component(group ${script} NAME_WE)
  file(STRINGS ${script} methods REGEX "^ +def test_")
  foreach(method IN LISTS methods)
    string(REGEX REPLACE "^ +def (test_[A-Za-z0-9_]+).*" "\\1" method "${method}")
    set(test ${group}.${method})
    add_test(NAME ${test} COMMAND ${KITH_PYTHON} ${script} -k "*.${method}")
    set_tests_properties(${test} PROPERTIES ENVIRONMENT "${python_environment}" LABELS e2e
                         TIMEOUT ${KITH_TEST_TIMEOUT} SKIP_RETURN_CODE 77)
  endforeach()
endforeach()
# A test for each page with commands. They take the longest, so they begin first.
file(GLOB_RECURSE pages RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS docs/*.md src/*.md)
foreach(page IN LISTS pages ITEMS README.md CONTRIBUTING.md DESIGN.md)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
  file(STRINGS ${page} commands REGEX "^```sh run")
  if(commands)
    add_test(NAME page.${page} COMMAND ${KITH_PYTHON} ${PROJECT_SOURCE_DIR}/tests/run_page.py ${page})
    set_tests_properties(page.${page} PROPERTIES ENVIRONMENT "${python_environment}" LABELS e2e
                         COST 50 TIMEOUT ${KITH_TEST_TIMEOUT} SKIP_RETURN_CODE 77)
  endif()
endforeach()
set(mutate ${KITH_PYTHON} ${PROJECT_SOURCE_DIR}/tests/mutate.py --read-many $<TARGET_FILE:read_many>
    --keep ${PROJECT_BINARY_DIR}/mutate)
add_test(NAME mutate.random COMMAND ${mutate} 2000)
add_test(NAME mutate.every_cut_and_bit COMMAND ${mutate} --exhaustive)
set_tests_properties(mutate.random mutate.every_cut_and_bit PROPERTIES
                     ENVIRONMENT "${python_environment}" TIMEOUT ${KITH_TEST_TIMEOUT})
