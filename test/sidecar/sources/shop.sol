// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

import "./IERC20.sol";

interface IToken {
    event Transfer(address indexed from, uint256 value);
    function balanceOf(address who) external view returns (uint256);
}

library SafeMath {
    function add(uint256 a, uint256 b) internal pure returns (uint256) {
        return a + b;
    }
}

contract Token is IToken, Ownable {
    struct Holder { address who; uint256 amount; }
    enum State { Idle, Active }
    error Insufficient(uint256 want);

    mapping(address => uint256) public balances;
    uint256 private total = 0;

    modifier onlyOwner() {
        require(msg.sender == owner(), "no");
        _;
    }

    constructor(string memory name_) Ownable(msg.sender) {
        _mint(msg.sender, 100);
    }

    function balanceOf(address who) external view override returns (uint256) {
        return balances[who];
    }

    function mint(uint256 amount) public onlyOwner {
        total = SafeMath.add(total, amount);
        emit Transfer(address(0), amount);
        Token t = new Token("x");
    }

    receive() external payable {}
}
