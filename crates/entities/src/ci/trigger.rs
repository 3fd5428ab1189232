//! Pipeline trigger tokens.

use ci::trigger::Trigger;
use db::Tx;
use forge::urls::Urls;
use kernel::{Actor, Result, Ts, ids::UserId};
use org::user::store::UserStore;
use secrets::Vault;
use serde::Serialize;
use utoipa::ToSchema;

use crate::org::brief_user::BriefUser;

#[derive(Serialize, ToSchema)]
pub struct TriggerEntity {
    pub id: i64,
    /// Full token for its owner and administrators, otherwise its first four characters.
    pub token: String,
    pub description: String,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    #[schema(value_type = Option<String>)]
    pub last_used: Option<Ts>,
    pub owner: Option<BriefUser>,
}

impl TriggerEntity {
    /// As somebody may see them. Owners are looked up once for all.
    pub fn all(
        tx: &mut Tx<'_>,
        (urls, vault): (&Urls, &Vault),
        actor: &Actor,
        triggers: Vec<Trigger>,
    ) -> Result<Vec<Self>> {
        let mut owners: Vec<UserId> = triggers.iter().map(|one| one.owner_id).collect();
        owners.sort_unstable();
        owners.dedup();
        let owners = tx.users_by_id(&owners)?;
        let entity = |trigger: Trigger| {
            let is_whole = actor.admin || actor.id == Some(trigger.owner_id);
            let token = match is_whole {
                true => trigger.token(vault)?.reveal().to_owned(),
                false => trigger.short_token(vault)?,
            };
            Ok(Self {
                id: trigger.id.0,
                token,
                description: trigger.description,
                created_at: trigger.created_at,
                updated_at: trigger.updated_at,
                last_used: trigger.last_used_at,
                owner: owners.get(&trigger.owner_id).map(|owner| BriefUser::new(urls, owner)),
            })
        };
        triggers.into_iter().map(entity).collect()
    }
}
