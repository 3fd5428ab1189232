//! Which way a list runs.

kernel::text_enum! { pub enum Sort { Asc = "asc", Desc = "desc" } }

crate::param_enums! { Sort }
