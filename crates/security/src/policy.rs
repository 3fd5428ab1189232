//! Abilities on vulnerabilities and alerts.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Error, Standing,
};

kernel::abilities! { in Project, signed in;
    /// See vulnerabilities of a project, also in a file.
    ReadVulnerabilities if |who| who.is(Developer),
}

kernel::abilities! { in Group, signed in;
    /// See the vulnerabilities of all projects of a group in a file.
    ReadGroupVulnerabilities if |who| who.is(Developer),
}

kernel::abilities! { in Instance, signed in;
    /// Export the vulnerabilities of a project or group; whether one may read them, the use case says.
    ExportVulnerabilities if |_who| true,
    /// Export what one watches, and fetch one's own exports; which these are, the actions say.
    UseVulnerabilityExports if |_who| true,
    /// See and change single vulnerabilities; which ones, the actions say.
    UseVulnerabilities if |_who| true,
}

kernel::abilities! { in Project, signed in;
    ReadAlerts if |who| who.is(Developer),
    /// Say how far people are with an alert.
    ChangeAlerts if |who| who.writes(Developer),
    /// See pictures that people added to alerts.
    ReadMetricImages if |who| who.is(Developer) => hidden_alert,
    /// See who may send alerts, with their keys.
    ReadAlertIntegrations if |who| who.is(Maintainer),
    /// Say who may send alerts, and what becomes of them.
    AdminAlerts if |who| who.writes(Maintainer),
}

/// Whoever may not see alerts is not told that there are any.
fn hidden_alert(_: &Standing) -> Error {
    no_alert()
}

pub(crate) fn no_alert() -> Error {
    Error::missing().whole("Alert not found")
}
