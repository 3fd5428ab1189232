//! User preferences: dismissed callouts and the sort order of issues.

use graphql::{Arguments, Connection, Failure, Payload, Registry, Value};
use kernel::ids::UserId;
use org::{
    callout::{self, Callout},
    preference::{self, Change},
};

use crate::{
    context::Context,
    failure::{done, failure_of},
    values::time,
};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&["UserCallout", "UserPreferences"]);
    registry.mutation("userCalloutCreate", |input, context| async move {
        dismiss(&input, &context).await
    });
    registry.mutation("userPreferencesUpdate", |input, context| async move {
        update(&input, &context).await
    });
}

/// The notices that somebody has closed, for themselves alone.
///
/// # Errors
/// When the database failed.
pub(super) async fn callouts_of(
    context: &Context,
    user: UserId,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    if context.actor().id != Some(user) {
        return Ok(Value::Null);
    }
    let read = context.forge.db.read(move |tx| callout::callouts(tx, user)).await;
    let found = read.map_err(failure_of)?;
    Ok(Connection::of_list(&page, found.iter().map(value).collect()).into())
}

/// Clients know notices by names in capitals.
fn value(found: &Callout) -> Value {
    Value::fields(
        "UserCallout",
        [
            ("dismissedAt", time(found.dismissed_at)),
            ("featureName", found.feature.to_uppercase().into()),
        ],
    )
}

async fn dismiss(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let user = context.signed_in()?.id;
    let feature = input.text("featureName")?.to_lowercase();
    let written = context.forge.db.write(move |tx| callout::dismiss(tx, user, &feature)).await;
    Ok(match done(written)? {
        Ok(closed) => Payload::new().field("userCallout", value(&closed)),
        Err(errors) => Payload::errors(errors),
    })
}

async fn update(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let user = context.signed_in()?.id;
    let sort = input.has("issuesSort").then(|| input.maybe_enum("issuesSort"));
    let change = Change { issues_sort: sort, ..Change::default() };
    let written = context.forge.db.write(move |tx| preference::change(tx, user, change)).await;
    Ok(match done(written)? {
        Ok(kept) => {
            let fields = [("issuesSort", kept.issues_sort.into())];
            Payload::new().field("userPreferences", Value::fields("UserPreferences", fields))
        }
        Err(errors) => Payload::errors(errors),
    })
}
