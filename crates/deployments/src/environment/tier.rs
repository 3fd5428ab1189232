//! The deployment tier of an environment.

kernel::text_enum! {
    pub enum Tier {
        Production = "production",
        Staging = "staging",
        Testing = "testing",
        Development = "development",
        Other = "other",
    }
}

/// Words in a name that imply a tier; the first match counts.
const SIGNS: [(&[&str], Tier); 4] = [
    (&["dev", "review", "trunk"], Tier::Development),
    (&["test", "tst", "int", "acpt", "accept", "qa", "qc", "control", "quality"], Tier::Testing),
    (&["stg", "stag", "model", "modl", "pre", "demo", "non"], Tier::Staging),
    (&["prod", "prd", "live"], Tier::Production),
];

impl Tier {
    /// The tier of an environment of that name, where nobody says it.
    pub fn of_name(name: &str) -> Self {
        let name = name.to_lowercase();
        let holds = |signs: &[&str]| signs.iter().any(|sign| name.contains(sign));
        SIGNS.iter().find(|(signs, _)| holds(signs)).map_or(Self::Other, |(_, tier)| *tier)
    }
}

#[cfg(test)]
mod tests {
    use super::Tier;

    #[test]
    fn a_name_tells_the_tier() {
        for (name, tier) in [
            ("production", Tier::Production),
            ("Live", Tier::Production),
            ("prd-eu", Tier::Production),
            ("preprod", Tier::Staging),
            ("stg", Tier::Staging),
            ("integration", Tier::Testing),
            ("QA", Tier::Testing),
            ("review/feature", Tier::Development),
            ("gprod-dev", Tier::Development),
            ("somewhere", Tier::Other),
        ] {
            assert_eq!(Tier::of_name(name), tier, "{name}");
        }
    }
}
