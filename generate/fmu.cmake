# limber_fmu.o: what limber_fmu.so is made of, as one object, and the header for sources that `limber fmu --generated` compiles and links
# with it. All symbols but the fmi2 functions are local; robot_code is left to the generated sources, and is the same for all sets of instructions.
add_library(generated_boundary OBJECT ${boundary} ${vendor})
target_link_libraries(generated_boundary PRIVATE fmu_options)
set(generated_objects "")
foreach(set IN LISTS fmu_sets)
    string(TOUPPER LIMBER_${set} definition)
    target_compile_definitions(generated_boundary PRIVATE ${definition})
    add_library(generated_${set} OBJECT ${PROJECT_SOURCE_DIR}/fmu_src/sim/robot_library.c)
    target_compile_options(generated_${set} PRIVATE ${${set}_options})
    target_compile_definitions(generated_${set} PRIVATE LIMBER_ROBOT_CODE)
    target_link_libraries(generated_${set} PRIVATE fmu_options)
    renamed(${PROJECT_BINARY_DIR}/generated_${set}.o $<TARGET_OBJECTS:generated_${set}> "${glibc}" PREFIX=${set}_
            OWNER=$<TARGET_FILE:fmu_${set}>)
    list(APPEND generated_objects ${PROJECT_BINARY_DIR}/generated_${set}.o)
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/fmu_src/sim/robot_code.h ${PROJECT_BINARY_DIR}/robot_code.h COPYONLY)
add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/limber_fmu.o
    COMMAND ${CMAKE_LINKER} -r -o limber_fmu.o $<TARGET_OBJECTS:generated_boundary> ${generated_objects} --start-group
            ${set_archives} ${fmu_vendor_archives} --end-group
    COMMAND ${CMAKE_OBJCOPY} --wildcard "--keep-global-symbol=fmi2*" --strip-debug limber_fmu.o
    DEPENDS generated_boundary $<TARGET_OBJECTS:generated_boundary> ${generated_objects} ${set_archives} ${fmu_vendor_archives} fmu_archives
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR} COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Linking limber_fmu.o")
add_custom_target(generated_fmu ALL DEPENDS ${PROJECT_BINARY_DIR}/limber_fmu.o)
install(FILES ${PROJECT_BINARY_DIR}/limber_fmu.o ${PROJECT_BINARY_DIR}/robot_code.h DESTINATION ${CMAKE_INSTALL_LIBDIR}/limber)
