//! Parts of statements that one domain hands to another.

use std::fmt;

/// A condition in SQL without values to bind, such as whether a caller may see the group in a column. A type of its own, so that no
/// other text is taken for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment(String);

impl Fragment {
    pub fn new(sql: impl Into<String>) -> Self {
        Self(sql.into())
    }
}

impl fmt::Display for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Fragment> for String {
    fn from(fragment: Fragment) -> Self {
        fragment.0
    }
}
