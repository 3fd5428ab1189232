//! Who somebody at a source is here: the person with an identity that they have linked, or with a confirmed address;
//! otherwise whoever imports, with a sentence that says who wrote it.

use std::collections::{BTreeMap, HashMap};

use admin::import::{ImportKind, ImportStore as _};
use kernel::{
    Result,
    ids::{ProjectId, UserId},
};
use org::user::{account::AccountStore as _, addresses, model::ExternalIdentity, names};

use super::{SourceClient, SourceError};
use crate::Forge;

/// Somebody as a source names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SourceUser {
    pub(crate) login: String,
    pub(crate) id: Option<i64>,
    pub(crate) email: Option<String>,
}

/// Looks people up, and remembers who they are.
#[derive(Debug)]
pub(crate) struct People<'a> {
    pub(crate) forge: &'a Forge,
    pub(crate) client: &'a SourceClient,
    pub(crate) project: ProjectId,
    pub(crate) kind: ImportKind,
    /// Stands for whoever has no account here.
    pub(crate) importer: UserId,
    /// Base of the API.
    pub(crate) base: &'a str,
    /// Host of addresses that tell nothing.
    pub(crate) private_host: String,
}

/// Local users for the users of an imported page.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownPeople {
    pub(crate) users: HashMap<String, Option<UserId>>,
    /// Those of them that were not known before.
    pub(crate) new: HashMap<String, Option<UserId>>,
    pub(crate) importer: Option<UserId>,
}

impl KnownPeople {
    /// Somebody's account, if they have one.
    pub(crate) fn find(&self, user: &SourceUser) -> Option<UserId> {
        self.users.get(&user.login).copied().flatten()
    }

    /// Who counts as the author of something.
    pub(crate) fn author(&self, user: &SourceUser) -> UserId {
        self.find(user).or(self.importer).unwrap_or(UserId(0))
    }

    /// A text, which says who wrote it where the author has no account.
    pub(crate) fn text(&self, user: &SourceUser, body: &str) -> String {
        match self.find(user) {
            Some(_) => body.to_owned(),
            None if user.login.is_empty() => body.to_owned(),
            None => format!("*Created by: {}*\n\n{body}", user.login),
        }
    }
}

impl People<'_> {
    /// Looks up everybody whom a page names. Each is asked about once in an import.
    pub(crate) async fn find(
        &self,
        named: impl IntoIterator<Item = &SourceUser>,
    ) -> Result<KnownPeople, SourceError> {
        let named: BTreeMap<String, SourceUser> = named
            .into_iter()
            .filter(|user| !user.login.is_empty())
            .map(|user| (user.login.clone(), user.clone()))
            .collect();
        let (project, logins) = (self.project, named.keys().cloned().collect::<Vec<_>>());
        let users = self.forge.db.read(move |tx| tx.imported_users(project, &logins)).await?;
        let mut unknown = Vec::new();
        for user in named.into_values().filter(|user| !users.contains_key(&user.login)) {
            unknown.push((self.addresses(&user).await?, user));
        }
        let importer = Some(self.importer);
        if unknown.is_empty() {
            return Ok(KnownPeople { users, new: HashMap::new(), importer });
        }
        let (provider, host) = (self.kind.to_string(), self.forge.urls.private_mail_host());
        let found = self.forge.db.read(move |tx| {
            let emails: Vec<String> =
                unknown.iter().flat_map(|(emails, _)| emails).cloned().collect();
            let holders = addresses::holders(tx, &emails, &host)?;
            let mut all = Vec::with_capacity(unknown.len());
            for (emails, user) in &unknown {
                let linked = match user.id {
                    Some(id) => tx.find_identity(&ExternalIdentity {
                        provider: provider.clone(),
                        extern_uid: id.to_string(),
                        saml_provider_id: None,
                    })?,
                    None => None,
                };
                let by_address = emails.iter().filter_map(|email| holders.get(email).copied());
                let ids: Vec<UserId> = linked.into_iter().chain(by_address).collect();
                all.push((user.login.clone(), ids));
            }
            let ids: Vec<UserId> = all.iter().flat_map(|(_, ids)| ids).copied().collect();
            let people = names::people_by_id(tx, &ids)?;
            let found = all
                .into_iter()
                .map(|(login, ids)| (login, ids.into_iter().find(|id| people.contains_key(id))));
            Ok(found.collect::<HashMap<_, _>>())
        });
        let new = found.await?;
        let mut users = users;
        users.extend(new.clone());
        Ok(KnownPeople { users, new, importer })
    }

    /// Addresses of somebody, in small letters.
    async fn addresses(&self, user: &SourceUser) -> Result<Vec<String>, SourceError> {
        let mut emails: Vec<String> = user.email.iter().cloned().collect();
        if self.kind == ImportKind::RemoteHost {
            let host = &self.private_host;
            emails.extend(user.id.map(|id| format!("{id}+{}@{host}", user.login)));
            emails.push(format!("{}@{host}", user.login));
            let name = super::host::encoded(&user.login);
            match self.client.get(format!("{}/users/{name}", self.base)).await {
                Ok(page) => {
                    emails.extend(page.body["email"].as_str().map(str::to_owned));
                }
                // Accounts that are gone have left what they wrote.
                Err(SourceError::Missing) => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(emails.into_iter().map(|email| email.to_lowercase()).collect())
    }
}
