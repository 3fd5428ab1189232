//! The sort direction of a list.

kernel::text_enum! { pub enum Sort { Asc = "asc", Desc = "desc" } }

crate::param_enums! { Sort }
