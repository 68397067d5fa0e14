# limber_fmu.o: what limber_fmu.so is made of, as one object, and the header for sources that `limber fmu --generated` compiles and links
# with it. All symbols but the fmi2 functions are local; robot_code is left to the generated sources.
add_library(generated_library OBJECT ${PROJECT_SOURCE_DIR}/fmu_src/sim/robot_library.c)
target_compile_definitions(generated_library PRIVATE LIMBER_ROBOT_CODE)
target_link_libraries(generated_library PRIVATE fmu_options)
set(generated_parts ${PROJECT_BINARY_DIR}/limber_fmu.o ${PROJECT_BINARY_DIR}/robot_code.h)
configure_file(${PROJECT_SOURCE_DIR}/fmu_src/sim/robot_code.h ${PROJECT_BINARY_DIR}/robot_code.h COPYONLY)
add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/limber_fmu.o
    COMMAND ${CMAKE_LINKER} -r -o limber_fmu.o $<TARGET_OBJECTS:generated_library> $<TARGET_OBJECTS:fmu_functions> --start-group
            $<TARGET_FILE:fmu_parts> ${JSONC_ARCHIVE} ${SUNDIALS_ARCHIVES} --end-group
    COMMAND ${CMAKE_OBJCOPY} --wildcard "--keep-global-symbol=fmi2*" --strip-debug limber_fmu.o
    DEPENDS generated_library $<TARGET_OBJECTS:generated_library> $<TARGET_OBJECTS:fmu_functions> fmu_parts
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR} COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Linking limber_fmu.o")
add_custom_target(generated_fmu ALL DEPENDS ${PROJECT_BINARY_DIR}/limber_fmu.o)
install(FILES ${generated_parts} DESTINATION ${CMAKE_INSTALL_LIBDIR}/limber)
