//! A string that is never logged.

/// A secret in clear. Only [`reveal`](Secret::reveal) shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(clear: impl Into<String>) -> Self {
        Self(clear.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn into_revealed(self) -> String {
        self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_secret_is_not_shown_by_accident() {
        let shown = format!("{:?} {:#?}", Secret::new("hunter2"), Some(Secret::new("hunter2")));
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
