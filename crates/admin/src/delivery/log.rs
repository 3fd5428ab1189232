//! The log of webhook deliveries: requests and their responses.

use db::{CountOf, OneOf as _, Tx, each_backend, error, schema::hook_logs as logs};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{HookId, HookLogId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use crate::flags::Flag;

const NOUN: &str = "Hook Log";

/// The status of a request that brought no answer.
pub const INTERNAL_ERROR: &str = "internal error";
/// Stands for a body that was too large to be sent.
pub const OVERSIZE_DATA: &str = r#"{"oversize":true}"#;

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::hook_logs, check_for_backend(db::AnyBackend))]
pub struct DeliveryLog {
    pub id: HookLogId,
    pub hook_id: HookId,
    /// Of the fact.
    pub uuid: String,
    pub idempotency_key: String,
    pub trigger_name: Flag,
    pub header: String,
    pub url: String,
    pub request_headers: String,
    pub request_data: String,
    pub response_headers: String,
    pub response_body: String,
    pub response_status: String,
    pub duration: f64,
    pub requested_by: Option<UserId>,
    pub created_at: Ts,
}

impl DeliveryLog {
    /// Whether its body was too large, so that there is nothing to send again.
    pub fn is_oversize(&self) -> bool {
        self.request_data == OVERSIZE_DATA && self.response_status == INTERNAL_ERROR
    }
}

/// One that is to be written.
#[derive(Clone, Debug)]
pub struct NewLog {
    pub hook: HookId,
    pub uuid: String,
    pub idempotency_key: String,
    pub trigger: Flag,
    pub header: String,
    pub url: String,
    pub request_headers: String,
    pub request_data: String,
    pub response_headers: String,
    pub response_body: String,
    /// Nothing where there was no answer.
    pub response_status: Option<u16>,
    pub duration: f64,
    pub requested_by: Option<UserId>,
}

/// Which deliveries are listed, by what came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusFilter {
    Successful,
    ClientFailure,
    ServerFailure,
    Code(u16),
}

impl StatusFilter {
    fn statuses(self) -> Vec<String> {
        let range = |from: u16, to: u16| (from..to).map(|code| code.to_string()).collect();
        match self {
            Self::Successful => range(200, 400),
            Self::ClientFailure => range(400, 500),
            Self::ServerFailure => {
                let mut all: Vec<String> = range(500, 600);
                all.push(INTERNAL_ERROR.to_owned());
                all
            }
            Self::Code(code) => vec![code.to_string()],
        }
    }
}

/// Rows of one statement: each has 14 values, and a statement of SQLite takes 32,766.
const AT_ONCE: usize = 200;

pub trait LogStore {
    fn insert_log(&mut self, log: &NewLog) -> Result<()>;
    fn insert_logs(&mut self, all: &[&NewLog]) -> Result<()>;
    /// A page, newest first; without filters all.
    fn logs_of(
        &mut self,
        hook: HookId,
        filters: &[StatusFilter],
        page: PageRequest,
    ) -> Result<Page<DeliveryLog>>;
    fn find_log(&mut self, hook: HookId, id: HookLogId) -> Result<Option<DeliveryLog>>;
    /// How often somebody had something sent to a hook since a moment.
    fn requests_since(&mut self, hook: HookId, by: UserId, since: Ts) -> Result<i64>;
    /// Forgets what was sent before a moment, at most so many; how many there were.
    fn forget_logs(&mut self, before: Ts, most: i64) -> Result<usize>;
}

impl LogStore for Tx<'_> {
    fn insert_log(&mut self, log: &NewLog) -> Result<()> {
        self.insert_logs(&[log])
    }

    fn insert_logs(&mut self, all: &[&NewLog]) -> Result<()> {
        let now = self.now;
        for some in all.chunks(AT_ONCE) {
            let rows: Vec<_> = some
                .iter()
                .map(|log| {
                    let status = log.response_status.map(|status| status.to_string());
                    (
                        logs::hook_id.eq(log.hook),
                        logs::uuid.eq(&log.uuid),
                        logs::idempotency_key.eq(&log.idempotency_key),
                        logs::trigger_name.eq(log.trigger),
                        logs::header.eq(&log.header),
                        logs::url.eq(&log.url),
                        logs::request_headers.eq(&log.request_headers),
                        logs::request_data.eq(&log.request_data),
                        logs::response_headers.eq(&log.response_headers),
                        logs::response_body.eq(&log.response_body),
                        logs::response_status.eq(status.unwrap_or(INTERNAL_ERROR.to_owned())),
                        logs::duration.eq(log.duration),
                        logs::requested_by.eq(log.requested_by),
                        logs::created_at.eq(now),
                    )
                })
                .collect();
            let insert = diesel::insert_into(logs::table).values(rows);
            each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        }
        Ok(())
    }

    fn logs_of(
        &mut self,
        hook: HookId,
        filters: &[StatusFilter],
        page: PageRequest,
    ) -> Result<Page<DeliveryLog>> {
        let statuses: Vec<String> = filters.iter().flat_map(|one| one.statuses()).collect();
        each_backend!(self, |conn| {
            let chosen = || {
                let all = logs::table.filter(logs::hook_id.eq(hook)).into_boxed();
                match statuses.is_empty() {
                    true => all,
                    false => all.filter(logs::response_status.one_of(&statuses)),
                }
            };
            let items = chosen()
                .order(logs::id.desc())
                .limit(page.per_page)
                .offset(page.offset())
                .select(DeliveryLog::as_select())
                .load(conn)
                .map_err(error(NOUN))?;
            let counted = CountOf(chosen().select(logs::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error(NOUN))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn find_log(&mut self, hook: HookId, id: HookLogId) -> Result<Option<DeliveryLog>> {
        let row = logs::table.find(id).filter(logs::hook_id.eq(hook));
        each_backend!(self, |conn| row
            .select(DeliveryLog::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn requests_since(&mut self, hook: HookId, by: UserId, since: Ts) -> Result<i64> {
        let all = logs::table
            .filter(logs::hook_id.eq(hook))
            .filter(logs::requested_by.eq(by))
            .filter(logs::created_at.gt(since))
            .count();
        each_backend!(self, |conn| all.get_result(conn).map_err(error(NOUN)))
    }

    fn forget_logs(&mut self, before: Ts, most: i64) -> Result<usize> {
        let old = logs::table.filter(logs::created_at.lt(before)).limit(most).select(logs::id);
        let old: Vec<HookLogId> = each_backend!(self, |conn| old.load(conn).map_err(error(NOUN)))?;
        if old.is_empty() {
            return Ok(0);
        }
        let gone = diesel::delete(logs::table.filter(logs::id.eq_any(old)));
        each_backend!(self, |conn| gone.execute(conn).map_err(error(NOUN)))
    }
}
