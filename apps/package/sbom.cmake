# cmake -DNOTICES=third_party/notices.txt -DVERSION=V -DROOT=SOURCES -DOUT=FILE -P sbom.cmake
#
# An SPDX 2.3 document of what mrvlc is built from: each package of NOTICES with the version that dpkg knows. `created` is
# $SOURCE_DATE_EPOCH, else the commit's date: the same sources and packages give the same bytes.
cmake_minimum_required(VERSION 3.25)
if("$ENV{SOURCE_DATE_EPOCH}" STREQUAL "")
  execute_process(COMMAND git -C "${ROOT}" log -1 --format=%ct OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT date MATCHES "^[0-9]+$")
    set(date 0)
  endif()
  set(ENV{SOURCE_DATE_EPOCH} ${date})
endif()
string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC)

function(quoted out text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

set(packages "")
set(relations "")
# One package of Debian, and how it belongs to mrvlc.
function(add_package package name use license copyright)
  execute_process(COMMAND dpkg-query -W -f "\${Version}" ${package} OUTPUT_VARIABLE version ERROR_QUIET)
  quoted(name "${name}")
  quoted(copyright "${copyright}")
  set(text "  {\n   \"SPDXID\": \"SPDXRef-${package}\",\n   \"name\": ${name},\n")
  set(reference "pkg:deb/debian/${package}")
  if(NOT version STREQUAL "")
    string(APPEND text "   \"versionInfo\": \"${version}\",\n")
    string(REPLACE ":" "%3A" version "${version}")
    string(REPLACE "+" "%2B" version "${version}")
    string(APPEND reference "@${version}")
  endif()
  string(APPEND text "   \"downloadLocation\": \"NOASSERTION\",\n   \"filesAnalyzed\": false,\n   \"licenseConcluded\": \"${license}\",\n"
         "   \"licenseDeclared\": \"${license}\",\n   \"copyrightText\": ${copyright},\n   \"externalRefs\": [{\"referenceCategory\": "
         "\"PACKAGE-MANAGER\", \"referenceType\": \"purl\", \"referenceLocator\": \"${reference}\"}]\n  }")
  set(packages "${packages},\n${text}" PARENT_SCOPE)
  set(this "SPDXRef-mrvlc")
  set(other "SPDXRef-${package}")
  if(use STREQUAL "contained")
    set(type CONTAINS)
  elseif(use STREQUAL "linked")
    set(type DYNAMIC_LINK)
  elseif(use STREQUAL "tool")
    set(type BUILD_TOOL_OF)
    set(this "SPDXRef-${package}")
    set(other "SPDXRef-mrvlc")
  else()
    message(FATAL_ERROR "${NOTICES}: ${package}: no such Use: '${use}'")
  endif()
  set(relations "${relations},\n  {\"spdxElementId\": \"${this}\", \"relationshipType\": \"${type}\", \"relatedSpdxElement\": \"${other}\"}"
      PARENT_SCOPE)
endfunction()

file(STRINGS "${NOTICES}" lines ENCODING UTF-8)
foreach(line IN LISTS lines)
  if(line MATCHES "^(Package|Name|Use|License|Copyright): (.*)$")
    set(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
    if(CMAKE_MATCH_1 STREQUAL "Copyright")
      add_package("${Package}" "${Name}" "${Use}" "${License}" "${Copyright}")
    endif()
  endif()
endforeach()

string(CONCAT body " \"packages\": [\n  {\n   \"SPDXID\": \"SPDXRef-mrvlc\",\n   \"name\": \"mrvlc\",\n   \"versionInfo\": \"${VERSION}\",\n"
    "   \"primaryPackagePurpose\": \"APPLICATION\",\n   \"downloadLocation\": \"NOASSERTION\",\n   \"filesAnalyzed\": false,\n"
    "   \"licenseConcluded\": \"Apache-2.0\",\n   \"licenseDeclared\": \"Apache-2.0\",\n   \"copyrightText\": \"the mrvlc developers\"\n  }${packages}\n ],\n"
    " \"relationships\": [\n  {\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \"relatedSpdxElement\": "
    "\"SPDXRef-mrvlc\"}${relations}\n ]\n")
string(SHA256 hash "${body}")
file(WRITE "${OUT}" "{\n \"spdxVersion\": \"SPDX-2.3\",\n \"dataLicense\": \"CC0-1.0\",\n \"SPDXID\": \"SPDXRef-DOCUMENT\",\n"
     " \"name\": \"mrvlc-${VERSION}\",\n \"documentNamespace\": \"https://spdx.org/spdxdocs/mrvlc-${VERSION}-${hash}\",\n"
     " \"creationInfo\": {\"created\": \"${created}\", \"creators\": [\"Tool: mrvlc-${VERSION}\"]},\n${body}}\n")
