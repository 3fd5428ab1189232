//! Reading audit events.

use db::Tx;
use kernel::{
    Error, Grant, Result,
    access::Administrate,
    page::{Page, PageRequest},
};

use super::{AuditEvent, AuditFilter, AuditStore as _};

/// Those of the whole installation.
pub fn list(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    filter: &AuditFilter,
    page: PageRequest,
) -> Result<Page<AuditEvent>> {
    tx.audit_events(filter, page)
}

pub fn read(tx: &mut Tx<'_>, _: &Grant<Administrate>, id: i64) -> Result<AuditEvent> {
    tx.audit_event(&AuditFilter::default(), id)?.ok_or_else(|| Error::not_found("Audit Event"))
}
