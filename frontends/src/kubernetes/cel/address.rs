//! Addresses and blocks of them.

use std::net::IpAddr;

/// An address; none for what the server does not take for one.
pub(crate) fn ip(text: &str) -> Option<IpAddr> {
    let address: IpAddr = text.parse().ok()?;
    match address {
        IpAddr::V6(six) if six.to_ipv4_mapped().is_some() => None,
        address => Some(address),
    }
}

/// A block; none for what the server does not take for one.
pub(crate) fn cidr(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = text.rsplit_once('/')?;
    let address = ip(address)?;
    let plain = bits.bytes().all(|b| b.is_ascii_digit());
    if !plain || (bits.len() > 1 && bits.starts_with('0')) {
        return None;
    }
    let bits: u8 = bits.parse().ok()?;
    (bits <= width(address)).then_some((address, bits))
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(four) => u128::from(u32::from(four)),
        IpAddr::V6(six) => u128::from(six),
    }
}

/// The first address of a block.
pub(crate) fn masked((address, bits): (IpAddr, u8)) -> IpAddr {
    let rest = u32::from(width(address) - bits);
    let mask = u128::MAX.checked_shl(rest).unwrap_or(0);
    match address {
        IpAddr::V4(four) => {
            let kept = u128::from(u32::from(four)) & mask;
            IpAddr::V4(u32::try_from(kept).unwrap_or(0).into())
        }
        IpAddr::V6(six) => IpAddr::V6((u128::from(six) & mask).into()),
    }
}

/// Whether an address is in a block.
pub(crate) fn contains(block: (IpAddr, u8), address: IpAddr) -> bool {
    block.0.is_ipv4() == address.is_ipv4()
        && number(masked(block)) == number(masked((address, block.1)))
}

/// Whether a block is in a block.
pub(crate) fn covers(block: (IpAddr, u8), other: (IpAddr, u8)) -> bool {
    block.1 <= other.1 && contains(block, other.0)
}

/// What an address is, by the name of the function that asks.
pub(crate) fn is(name: &str, address: IpAddr) -> Option<bool> {
    let local_unicast = match address {
        IpAddr::V4(four) => four.is_link_local(),
        IpAddr::V6(six) => six
            .segments()
            .first()
            .is_some_and(|first| first & 0xffc0 == 0xfe80),
    };
    Some(match name {
        "isUnspecified" => address.is_unspecified(),
        "isLoopback" => address.is_loopback(),
        "isLinkLocalUnicast" => local_unicast,
        "isLinkLocalMulticast" => match address {
            IpAddr::V4(four) => matches!(four.octets(), [224, 0, 0, _]),
            IpAddr::V6(six) => six
                .segments()
                .first()
                .is_some_and(|first| first & 0xff0f == 0xff02),
        },
        "isGlobalUnicast" => {
            let broadcast = matches!(address, IpAddr::V4(four) if four.is_broadcast());
            !broadcast
                && !address.is_unspecified()
                && !address.is_loopback()
                && !address.is_multicast()
                && !local_unicast
        }
        _ => return None,
    })
}
