//! A person as other records mention them.

use db::Tx;
use forge::urls::Urls;
use kernel::{Result, ids::UserId};
use org::user::{State, User, UserSummary, store::UserStore as _};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BriefUser {
    pub id: i64,
    pub username: String,
    pub name: String,
    #[schema(value_type = String)]
    pub state: State,
    pub avatar_url: Option<String>,
    pub web_url: String,
}

impl AsRef<Self> for BriefUser {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl BriefUser {
    /// People in the order of these ids; whoever is gone is left out.
    pub fn in_order(tx: &mut Tx<'_>, urls: &Urls, ids: &[UserId]) -> Result<Vec<Self>> {
        let users = tx.summaries_by_id(ids)?;
        Ok(ids.iter().filter_map(|id| Some(Self::of(urls, users.get(id)?))).collect())
    }

    pub fn new(urls: &Urls, user: &User) -> Self {
        Self::of(urls, &user.summary())
    }

    pub fn of(urls: &Urls, user: &UserSummary) -> Self {
        let picture = user
            .avatar
            .as_ref()
            .map(|file| urls.at(&format!("uploads/-/system/user/avatar/{}/{file}", user.id)));
        Self {
            id: user.id.0,
            username: user.username.clone(),
            name: user.name.clone(),
            state: user.state,
            avatar_url: picture.or_else(|| urls.gravatar(&user.email)),
            web_url: urls.at(&user.username),
        }
    }
}
