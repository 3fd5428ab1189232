//! Token scopes.

use kernel::TextEnum;

kernel::text_enum! { pub enum Scope {
    Api = "api", ReadApi = "read_api", ReadUser = "read_user", ReadRepository = "read_repository",
    WriteRepository = "write_repository", ReadRegistry = "read_registry", WriteRegistry = "write_registry",
    Sudo = "sudo", AdminMode = "admin_mode", CreateRunner = "create_runner", ManageRunner = "manage_runner",
    K8sProxy = "k8s_proxy", AiFeatures = "ai_features", SelfRotate = "self_rotate",
    OpenId = "openid", Profile = "profile", Email = "email",
} }

/// A set of scopes, stored as words with a blank between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes(pub Vec<Scope>);

impl Scopes {
    pub fn has(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }

    pub fn parse(words: &str) -> Self {
        Self(words.split_whitespace().filter_map(Scope::find).collect())
    }

    /// As [`parse`](Self::parse), each once; `None` where a word is no scope.
    pub fn read(words: &str) -> Option<Self> {
        let mut scopes = Vec::new();
        for word in words.split_whitespace() {
            let scope = Scope::find(word)?;
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        Some(Self(scopes))
    }
}

impl std::fmt::Display for Scopes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (position, scope) in self.0.iter().enumerate() {
            let blank = if position == 0 { "" } else { " " };
            write!(f, "{blank}{scope}")?;
        }
        Ok(())
    }
}
