//! Broadcast messages in the database.

use db::{CountOf, Tx, each_backend, error, schema::broadcast_messages as messages};
use diesel::prelude::*;
use kernel::{
    Result,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::BroadcastMessage;

const NOUN: &str = "Broadcast Message";

pub trait BroadcastStore {
    /// The newest first.
    fn broadcast_messages(&mut self, page: PageRequest) -> Result<Page<BroadcastMessage>>;
    fn broadcast_message(&mut self, id: i64) -> Result<Option<BroadcastMessage>>;
    fn insert_broadcast_message(&mut self, new: &BroadcastMessage) -> Result<BroadcastMessage>;
    fn save_broadcast_message(&mut self, message: &BroadcastMessage) -> Result<()>;
    fn delete_broadcast_message(&mut self, id: i64) -> Result<()>;
}

macro_rules! columns {
    ($message:expr) => {
        (
            messages::message.eq(&$message.message),
            messages::starts_at.eq($message.starts_at),
            messages::ends_at.eq($message.ends_at),
            messages::color.eq(&$message.color),
            messages::font.eq(&$message.font),
            messages::target_access_levels.eq(&$message.target_access_levels),
            messages::target_path.eq(&$message.target_path),
            messages::broadcast_type.eq($message.broadcast_type),
            messages::dismissable.eq($message.dismissable),
            messages::created_at.eq($message.created_at),
            messages::updated_at.eq($message.updated_at),
        )
    };
}

impl BroadcastStore for Tx<'_> {
    fn broadcast_messages(&mut self, page: PageRequest) -> Result<Page<BroadcastMessage>> {
        let rows =
            messages::table.order(messages::id.desc()).limit(page.per_page).offset(page.offset());
        let items: Vec<BroadcastMessage> = each_backend!(self, |conn| rows
            .select(BroadcastMessage::as_select())
            .load(conn)
            .map_err(error(NOUN)))?;
        let count = CountOf(messages::table.select(messages::id).limit(COUNT_LIMIT + 1));
        let total = each_backend!(self, |conn| count.get_result(conn).map_err(error(NOUN)))?;
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn broadcast_message(&mut self, id: i64) -> Result<Option<BroadcastMessage>> {
        let row = messages::table.find(id);
        each_backend!(self, |conn| row
            .select(BroadcastMessage::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn insert_broadcast_message(&mut self, new: &BroadcastMessage) -> Result<BroadcastMessage> {
        let insert = diesel::insert_into(messages::table).values(columns!(new));
        each_backend!(self, |conn| insert
            .returning(BroadcastMessage::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn save_broadcast_message(&mut self, message: &BroadcastMessage) -> Result<()> {
        let update = diesel::update(messages::table.find(message.id)).set(columns!(message));
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_broadcast_message(&mut self, id: i64) -> Result<()> {
        let delete = diesel::delete(messages::table.find(id));
        each_backend!(self, |conn| delete.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
