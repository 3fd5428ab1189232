//! A feature with its gates.

kernel::text_enum! {
    /// A condition that enables a feature for some actors.
    pub enum Gate {
        Boolean = "boolean",
        Actors = "actors",
        Groups = "groups",
        PercentageOfActors = "percentage_of_actors",
        PercentageOfTime = "percentage_of_time",
    }
}

kernel::text_enum! {
    /// For whom a feature is on.
    pub enum State { On = "on", Off = "off", Conditional = "conditional" }
}

/// The name of a feature: letters, digits, and `_-.:` after the first character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureName(String);

impl FeatureName {
    /// In letters.
    const LONGEST: usize = 255;

    pub fn parse(text: &str) -> Option<Self> {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let is_known = |letter: char| is_word(letter) || "-.:".contains(letter);
        let is_name = text.starts_with(is_word) && text.chars().all(is_known);
        (is_name && text.len() <= Self::LONGEST).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A feature that somebody has set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feature {
    pub name: String,
    /// On for everybody.
    pub boolean: bool,
    /// As `User:1`, `Group:2` or `Project:3`.
    pub actors: Vec<String>,
    /// Names of feature groups.
    pub groups: Vec<String>,
    /// Out of a hundred.
    pub percentage_of_actors: i64,
    pub percentage_of_time: i64,
}

impl Feature {
    /// Of rows with one gate each.
    pub fn of_gates(name: String, gates: Vec<(Gate, String)>) -> Self {
        let mut feature = Self { name, ..Self::default() };
        for (gate, value) in gates {
            match gate {
                Gate::Boolean => feature.boolean = value == "true",
                Gate::Actors => feature.actors.push(value),
                Gate::Groups => feature.groups.push(value),
                Gate::PercentageOfActors => {
                    feature.percentage_of_actors = value.parse().unwrap_or_default();
                }
                Gate::PercentageOfTime => {
                    feature.percentage_of_time = value.parse().unwrap_or_default();
                }
            }
        }
        feature
    }

    /// The gates as they are stored.
    pub fn gates(&self) -> Vec<(Gate, String)> {
        let mut gates = vec![(Gate::Boolean, self.boolean.to_string())];
        gates.extend(self.actors.iter().map(|actor| (Gate::Actors, actor.clone())));
        gates.extend(self.groups.iter().map(|group| (Gate::Groups, group.clone())));
        for (gate, number) in [
            (Gate::PercentageOfActors, self.percentage_of_actors),
            (Gate::PercentageOfTime, self.percentage_of_time),
        ] {
            if number != 0 {
                gates.push((gate, number.to_string()));
            }
        }
        gates
    }

    pub fn state(&self) -> State {
        let whole = self.percentage_of_actors == 100 || self.percentage_of_time == 100;
        let some = !self.actors.is_empty()
            || !self.groups.is_empty()
            || self.percentage_of_actors != 0
            || self.percentage_of_time != 0;
        match (self.boolean || whole, some) {
            (true, _) => State::On,
            (false, true) => State::Conditional,
            (false, false) => State::Off,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Feature, FeatureName, State};

    #[test]
    fn names_are_words() {
        for name in ["dark_mode", "ci:new-rules", "v1.2", "2fa"] {
            assert!(FeatureName::parse(name).is_some(), "{name}");
        }
        for name in ["", " ", "..", "../../etc/passwd", "%", "%zz", "-x", "a b", "\0", "ä"] {
            assert!(FeatureName::parse(name).is_none(), "{name}");
        }
        assert!(FeatureName::parse(&"a".repeat(256)).is_none());
    }

    #[test]
    fn a_feature_is_on_for_all_some_or_none() {
        let mut feature = Feature::default();
        assert_eq!(feature.state(), State::Off);
        feature.actors.push("User:1".to_owned());
        assert_eq!(feature.state(), State::Conditional);
        let again = Feature::of_gates(String::new(), feature.gates());
        assert_eq!(again, feature);
        feature.percentage_of_time = 100;
        assert_eq!(feature.state(), State::On);
    }
}
