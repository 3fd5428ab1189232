//! Emoji reactions.

use db::Tx;
use forge::urls::Urls;
use kernel::{Result, Ts, ids::UserId};
use org::user::store::UserStore;
use review::emoji::{Award, AwardedKind};
use serde::Serialize;
use utoipa::ToSchema;

use crate::org::brief_user::BriefUser;

#[derive(Debug, Serialize, ToSchema)]
pub struct AwardEntity {
    pub id: i64,
    pub name: String,
    /// Null when the user has been deleted.
    pub user: Option<BriefUser>,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    pub awardable_id: i64,
    #[schema(value_type = String)]
    pub awardable_type: AwardedKind,
    /// URL of a custom emoji's image. Always null: there are no custom emoji.
    pub url: Option<String>,
}

impl AwardEntity {
    /// People are looked up once for all of them.
    pub fn all(tx: &mut Tx<'_>, urls: &Urls, awards: Vec<Award>) -> Result<Vec<Self>> {
        let mut ids: Vec<UserId> = awards.iter().map(|award| award.user_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let people = tx.users_by_id(&ids)?;
        let entity = |award: Award| Self {
            id: award.id,
            name: award.name,
            user: people.get(&award.user_id).map(|user| BriefUser::new(urls, user)),
            created_at: award.created_at,
            updated_at: award.updated_at,
            awardable_id: award.item_id,
            awardable_type: award.item_kind,
            url: None,
        };
        Ok(awards.into_iter().map(entity).collect())
    }

    pub fn one(tx: &mut Tx<'_>, urls: &Urls, award: Award) -> Result<Self> {
        Self::all(tx, urls, vec![award])?.pop().ok_or_else(kernel::Error::missing)
    }
}
