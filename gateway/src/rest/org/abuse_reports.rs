//! Reports of people who do what they should not.

use kernel::{access::SignedIn, ids::UserId};
use org::user::abuse::{self, AbuseCategory, AbuseReport};

use crate::{
    app::App, error::ApiResult, extract::Call, param_enums, params, present::Accepted, routes,
};

routes! { "Abuse reports" at "//-/abuse_reports";
    POST "" => create : SignedIn,
}

param_enums! { AbuseCategory }

params! {
    struct ReportAbuse {
        /// The user who is reported.
        user_id: UserId,
        /// What for. Default: `other`.
        category: Option<AbuseCategory>,
        /// What happened, at most 10,000 characters.
        message: String,
    }
}

async fn create(app: App, call: Call<SignedIn, ReportAbuse>) -> ApiResult<Accepted> {
    let (grant, given) = (call.grant, call.params);
    let report = AbuseReport {
        user: given.user_id,
        category: given.category.unwrap_or(AbuseCategory::Other),
        message: given.message,
    };
    app.db.write(move |tx| abuse::report(tx, &grant, &report)).await?;
    Ok(Accepted)
}
