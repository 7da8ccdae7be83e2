//! The functions that the server knows, with what they take and give.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A kind of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Any,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    List,
    Map,
    Optional,
    Time,
    Duration,
    Quantity,
    Ip,
    Block,
    Url,
    Version,
    Format,
    Type,
}

const WORDS: [(&str, Kind); 20] = [
    ("any", Kind::Any),
    ("null", Kind::Null),
    ("bool", Kind::Bool),
    ("int", Kind::Int),
    ("uint", Kind::Uint),
    ("double", Kind::Double),
    ("string", Kind::Text),
    ("bytes", Kind::Bytes),
    ("list", Kind::List),
    ("map", Kind::Map),
    ("optional", Kind::Optional),
    ("timestamp", Kind::Time),
    ("duration", Kind::Duration),
    ("quantity", Kind::Quantity),
    ("IP address", Kind::Ip),
    ("CIDR", Kind::Block),
    ("URL", Kind::Url),
    ("version", Kind::Version),
    ("format", Kind::Format),
    ("type", Kind::Type),
];

impl Kind {
    /// The kind as it is called.
    pub(super) fn shown(self) -> &'static str {
        let mut words = WORDS.iter().filter(|(_, kind)| *kind == self);
        words.next().map_or("value", |(word, _)| word)
    }
}

/// What a function takes and gives.
pub(super) struct Signature {
    pub(super) wanted: Vec<Kind>,
    pub(super) result: Kind,
}

/// A line for each: its name, what it takes, and what it gives. A name with `_.` is of the value that comes first.
const TABLE: &str = "
size string int|size bytes int|size list int|size map int
_.size string int|_.size bytes int|_.size list int|_.size map int
matches string,string bool|_.matches string,string bool
_.startsWith string,string bool|_.endsWith string,string bool|_.contains string,string bool
_.charAt string,int string|_.indexOf string,string int|_.indexOf string,string,int int
_.lastIndexOf string,string int|_.lastIndexOf string,string,int int|_.lowerAscii string string
_.upperAscii string string|_.trim string string|_.replace string,string,string string
_.replace string,string,string,int string|_.split string,string list|_.split string,string,int list
_.substring string,int string|_.substring string,int,int string|_.format string,list string
_.join list string|_.join list,string string|strings.quote string string
_.find string,string string|_.findAll string,string list|_.findAll string,string,int list
_.isSorted list bool|_.sum list any|_.min list any|_.max list any|_.indexOf list,any int|_.lastIndexOf list,any int
_.first list optional|_.last list optional|_.reverse list list|_.distinct list list|_.sort list list
_.slice list,int,int list|_.flatten list list|_.flatten list,int list|lists.range int list
sets.contains list,list bool|sets.equivalent list,list bool|sets.intersects list,list bool
type any type|string any string|int any int|uint any uint|double any double|bool any bool|bytes any bytes
timestamp any timestamp|duration any duration|dyn any any
_.getFullYear timestamp int|_.getFullYear timestamp,string int|_.getMonth timestamp int|_.getMonth timestamp,string int
_.getDate timestamp int|_.getDate timestamp,string int|_.getDayOfMonth timestamp int|_.getDayOfMonth timestamp,string int
_.getDayOfWeek timestamp int|_.getDayOfWeek timestamp,string int|_.getDayOfYear timestamp int|_.getDayOfYear timestamp,string int
_.getHours timestamp int|_.getHours timestamp,string int|_.getHours duration int
_.getMinutes timestamp int|_.getMinutes timestamp,string int|_.getMinutes duration int
_.getSeconds timestamp int|_.getSeconds timestamp,string int|_.getSeconds duration int
_.getMilliseconds timestamp int|_.getMilliseconds timestamp,string int|_.getMilliseconds duration int
quantity string quantity|isQuantity string bool|sign quantity int|_.isInteger quantity bool
_.asInteger quantity int|_.asApproximateFloat quantity double|_.isGreaterThan quantity,quantity bool
_.isLessThan quantity,quantity bool|_.compareTo quantity,quantity int|_.add quantity,quantity quantity
_.add quantity,int quantity|_.sub quantity,quantity quantity|_.sub quantity,int quantity
ip string ip|isIP string bool|ip.isCanonical string bool|_.family ip int|_.isUnspecified ip bool|_.isLoopback ip bool
_.isLinkLocalMulticast ip bool|_.isLinkLocalUnicast ip bool|_.isGlobalUnicast ip bool
cidr string block|isCIDR string bool|_.containsIP block,string bool|_.containsIP block,ip bool
_.containsCIDR block,string bool|_.containsCIDR block,block bool|_.ip block ip|_.masked block block|_.prefixLength block int
url string url|isURL string bool|_.getScheme url string|_.getHost url string|_.getHostname url string|_.getPort url string
_.getEscapedPath url string|_.getQuery url map
semver string version|semver string,bool version|isSemver string bool|isSemver string,bool bool|_.major version int
_.minor version int|_.patch version int|_.isGreaterThan version,version bool|_.isLessThan version,version bool
_.compareTo version,version int
format.named string optional|_.validate format,string optional
format.dns1123Label - format|format.dns1123Subdomain - format|format.dns1035Label - format|format.qualifiedName - format
format.dns1123LabelPrefix - format|format.dns1123SubdomainPrefix - format|format.dns1035LabelPrefix - format
format.labelValue - format|format.uri - format|format.uuid - format|format.byte - format|format.date - format
format.datetime - format
optional.of any optional|optional.none - optional|optional.ofNonZeroValue any optional
_.hasValue optional bool|_.value optional any|_.or optional,optional optional|_.orValue optional,any any
_.path any,string any|_.group any,string any|_.serviceAccount any,string,string any|_.resource any,string any
_.subresource any,string any|_.namespace any,string any|_.name any,string any|_.check any,string any
_.fieldSelector any,string any|_.labelSelector any,string any|_.allowed any bool|_.reason any string|_.errored any bool
_.error any string|_.includes any,any any|jsonpatch.escapeKey string string
";

static SIGNATURES: LazyLock<BTreeMap<&'static str, Vec<Signature>>> = LazyLock::new(|| {
    let mut all: BTreeMap<&'static str, Vec<Signature>> = BTreeMap::new();
    for line in TABLE.split(['\n', '|']) {
        let mut words = line.split(' ');
        let (Some(name), Some(wanted), Some(result)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let wanted = wanted.split(',').filter(|word| *word != "-");
        all.entry(name).or_default().push(Signature {
            wanted: wanted.map(kind).collect(),
            result: kind(result),
        });
    }
    all
});

fn kind(word: &str) -> Kind {
    match word {
        "ip" => Kind::Ip,
        "block" => Kind::Block,
        "url" => Kind::Url,
        word => {
            let mut words = WORDS.iter().filter(|(known, _)| *known == word);
            words.next().map_or(Kind::Any, |(_, kind)| *kind)
        }
    }
}

/// What the functions of a name take and give.
pub(super) fn of(name: &str) -> &'static [Signature] {
    SIGNATURES.get(name).map_or(&[], Vec::as_slice)
}

/// Whether a name is that of a library.
pub(super) fn is_library(name: &str) -> bool {
    matches!(
        name,
        "optional" | "strings" | "sets" | "ip" | "format" | "lists" | "jsonpatch"
    )
}

/// Whether a name is that of a type.
pub(super) fn is_type(name: &str) -> bool {
    matches!(
        name,
        "bool"
            | "int"
            | "uint"
            | "double"
            | "string"
            | "bytes"
            | "list"
            | "map"
            | "null_type"
            | "type"
            | "optional_type"
    )
}

/// Whether names of types start with a word.
pub(super) fn is_package(name: &str) -> bool {
    matches!(
        name,
        "google" | "net" | "kubernetes" | "Object" | "JSONPatch"
    )
}
