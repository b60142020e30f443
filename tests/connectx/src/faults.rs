//! Errors on demand: commands that fail because somebody asked for it.

use std::str::FromStr;

use uverbs_uapi::prm::opcode_name;

/// Which commands fail, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Name of the command, `CREATE_FLOW_TABLE` for example.
    pub command: String,
    /// The status to answer.
    pub status: u8,
    /// How many of these commands succeed first.
    pub skip: u64,
    /// How many fail then.
    pub times: u64,
}

impl Fault {
    /// Whether `command`, which is executed now, fails.
    pub(crate) fn strikes(&mut self, command: &str) -> bool {
        if self.command != command || self.times == 0 {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.times -= 1;
        true
    }
}

/// What is wrong with a fault's description.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not COMMAND=STATUS[@SKIP]: {1}")]
pub struct BadFault(String, &'static str);

impl FromStr for Fault {
    type Err = BadFault;

    /// `CREATE_FLOW_TABLE=8@2`: from the third such command on, all fail with status 8.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = |why| BadFault(text.to_owned(), why);
        let (command, rest) = text.split_once('=').ok_or_else(|| bad("there is no ="))?;
        let (status, skip) = rest.split_once('@').unwrap_or((rest, "0"));
        let status =
            status.parse().ok().filter(|&status| status != 0).ok_or_else(|| bad("a status is 1..=255"))?;
        let skip = skip.parse().map_err(|_| bad("SKIP is a number"))?;
        if !(0..=u16::MAX).any(|opcode| opcode_name(opcode) == Some(command)) {
            return Err(bad("there is no such command"));
        }
        Ok(Self { command: command.to_owned(), status, skip, times: u64::MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::Fault;

    #[test]
    fn a_fault_strikes_after_its_skips() {
        let mut fault: Fault = "CREATE_FLOW_TABLE=8@2".parse().unwrap();
        let strikes: Vec<bool> = (0..4).map(|_| fault.strikes("CREATE_FLOW_TABLE")).collect();
        assert_eq!(strikes, [false, false, true, true]);
        assert!(!fault.strikes("CREATE_FLOW_GROUP"));
    }

    #[test]
    fn nonsense_is_refused_with_the_reason() {
        for (text, why) in [
            ("CREATE_FLOW_TABLE", "no ="),
            ("CREATE_FLOW_TABLE=0", "1..=255"),
            ("CREATE_FLOW_TABLE=1@x", "number"),
            ("NO_SUCH=1", "no such command"),
        ] {
            assert!(text.parse::<Fault>().unwrap_err().to_string().contains(why), "{text}");
        }
    }
}
