"""What does not hold yet: for each rule the folders that break it. A line leaves with its last violation."""

PENDING: dict[str, tuple[str, ...]] = {
    "a_class_name_means_one_thing": (
        "larrabee_bridge",
        "microcode",
        "pixelflow/debugger",
        "pixelflow/isa",
        "pixelflow/kernels",
        "pixelflow/node",
        "pixelflow/observe",
        "pixelflow/simd",
        "tessellation",
    ),
    "a_command_imports_in_one_place": (),
    "a_folder_has_few_floors": (
        "larrabee_bridge",
        "pixelflow",
        "pixelflow/kernels",
        "pixelflow/node",
    ),
    "a_folder_holds_few_files": (
        "pixelflow/kernels",
        "pixelflow/node",
    ),
    "commands_format_no_figure": (),
    "folders_say_their_kind": ("pixelflow/kernels",),
    "kinds_decide_imports": ("larrabee_bridge",),
    "no_arrow_goes_upwards": (
        "pixelflow/kernels",
        "pixelflow/node",
        "pixelflow/simd",
    ),
    "no_files_in_a_circle": (
        "pixelflow/kernels",
        "pixelflow/node",
    ),
    "the_core_imports_no_machine": ("pixelflow/simd",),
    "the_core_names_no_machine": ("pixelflow/simd",),
}
