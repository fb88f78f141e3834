# Put a text file into a C file as `const char NAME[]`, NUL-terminated.
#
#     cmake -DFILE=... -DNAME=... -DOUT=... -P cmake/embed_text.cmake
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "/* Made of ${FILE} by cmake/embed_text.cmake. */\nextern const char ${NAME}[];\nconst char ${NAME}[] = {\n${bytes}0\n};\n")
