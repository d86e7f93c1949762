"""What does not hold yet: for each rule the folders that break it. A line leaves with its last violation."""

PENDING: dict[str, tuple[str, ...]] = {
    "a_class_name_means_one_thing": (
        "larrabee_bridge",
        "microcode",
        "pixelflow/debugger",
        "pixelflow/isa",
        "pixelflow/node/parts/kernels",
        "pixelflow/node",
        "pixelflow/observe",
        "pixelflow/simd",
        "tessellation",
    ),
    "a_folder_has_few_floors": (
        "larrabee_bridge",
        "pixelflow",
        "pixelflow/node/parts/kernels",
        "pixelflow/node",
    ),
    "folders_say_their_kind": ("pixelflow/node/parts/kernels",),
    "kinds_decide_imports": (
        "larrabee_bridge",
        "pixelflow/node",
    ),
    "no_arrow_goes_upwards": (
        "pixelflow/node",
        "pixelflow/node/account",
    ),
    "the_core_imports_no_machine": ("pixelflow/simd",),
    "the_core_names_no_machine": ("pixelflow/simd",),
}
