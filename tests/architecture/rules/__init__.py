"""The rules of the house: each a function that takes the root of a tree and returns what breaks it, with the place."""

from collections.abc import Callable
from pathlib import Path

from tests.architecture.rules.commands import (
    a_command_imports_in_one_place,
    commands_format_no_figure,
    commands_know_no_machine,
)
from tests.architecture.rules.core import (
    lanes_do_not_ask_for_the_machine,
    lanes_know_no_machine,
    the_core_imports_no_machine,
    the_core_names_no_machine,
)
from tests.architecture.rules.folders import (
    a_folder_has_few_floors,
    a_folder_holds_few_files,
    no_arrow_goes_upwards,
    no_files_in_a_circle,
    packages_are_found,
)
from tests.architecture.rules.machines import (
    folders_say_their_kind,
    kinds_decide_imports,
    machines_do_not_import_each_other,
)
from tests.architecture.rules.mnemonics import lanes_name_no_mnemonic, no_second_list_of_mnemonics
from tests.architecture.rules.rooms import (
    imports_follow_the_table,
    rooms_are_used_through_their_face,
    the_front_loads_nothing,
    the_table_is_about_rooms_that_exist,
)
from tests.architecture.rules.texts import (
    a_class_name_means_one_thing,
    a_file_fits_in_one_reading,
    every_file_says_what_it_is,
    file_names_are_the_fields,
    library_code_does_not_print,
)
from tests.architecture.rules.types import few_lines_use_any

Rule = Callable[[Path], list[str]]

RULES: tuple[Rule, ...] = (
    a_class_name_means_one_thing,
    a_command_imports_in_one_place,
    a_file_fits_in_one_reading,
    a_folder_has_few_floors,
    a_folder_holds_few_files,
    commands_format_no_figure,
    commands_know_no_machine,
    every_file_says_what_it_is,
    few_lines_use_any,
    file_names_are_the_fields,
    folders_say_their_kind,
    imports_follow_the_table,
    kinds_decide_imports,
    lanes_do_not_ask_for_the_machine,
    lanes_know_no_machine,
    lanes_name_no_mnemonic,
    library_code_does_not_print,
    machines_do_not_import_each_other,
    no_arrow_goes_upwards,
    no_files_in_a_circle,
    no_second_list_of_mnemonics,
    packages_are_found,
    rooms_are_used_through_their_face,
    the_core_imports_no_machine,
    the_core_names_no_machine,
    the_front_loads_nothing,
    the_table_is_about_rooms_that_exist,
)
