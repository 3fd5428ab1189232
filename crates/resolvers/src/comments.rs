//! Comments on every kind of object.

use graphql::{Failure, Registry};
use kernel::ids::AlertId;

use super::{
    context::Context,
    review::note_mutations::create_note,
    security::alert_notes::{ALERT, comment},
};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.mutation("createNote", |input, context| async move {
        let (class, id) = input.any_gid("noteableId")?;
        if class != ALERT {
            return create_note(&context, &input).await;
        }
        let id = id.parse().map_err(|_cause| Failure::NotFoundOrForbidden)?;
        comment(&context, &input, AlertId(id)).await
    });
}
