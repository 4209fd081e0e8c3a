# SPDX-License-Identifier: Apache-2.0
# Program, library, headers, man page and completions, where the system looks for them; and the
# package that holds them.
include(CMakePackageConfigHelpers)

set(pages ${PROJECT_BINARY_DIR}/pages)
set(made ${pages}/kith.1 ${pages}/kith.bash ${pages}/_kith ${pages}/kith.fish)
add_custom_command(
  OUTPUT ${made}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}
  COMMAND kith help man > ${pages}/kith.1
  COMMAND kith help completion bash > ${pages}/kith.bash
  COMMAND kith help completion zsh > ${pages}/_kith
  COMMAND kith help completion fish > ${pages}/kith.fish
  DEPENDS kith VERBATIM)
add_custom_target(pages ALL DEPENDS ${made})

install(TARGETS kith RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS libkith EXPORT Kith LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/kith DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/kith/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kith)
install(FILES ${pages}/kith.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${pages}/kith.bash RENAME kith
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${pages}/_kith DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${pages}/kith.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# find_package(Kith)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Kith)
install(EXPORT Kith NAMESPACE Kith:: FILE KithTargets.cmake DESTINATION ${package})
file(WRITE ${PROJECT_BINARY_DIR}/KithConfig.cmake
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/KithTargets.cmake\")\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/KithConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/KithConfig.cmake ${PROJECT_BINARY_DIR}/KithConfigVersion.cmake
        DESTINATION ${package})

# pkg-config kith
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/kith.pc.in kith.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kith.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# make deb
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kith)
set(CPACK_PACKAGE_CONTACT "The Kith authors <kith@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "learn vectors from data, and query them")
set(CPACK_PACKAGE_DESCRIPTION
    "Kith learns vectors for the words of a text, the rows and values of a table and the users and
items of ratings from what they occur with. A program and a C++ library.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS wordnet-base)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
include(CPack)
