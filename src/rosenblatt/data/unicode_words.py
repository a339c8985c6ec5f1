"""Which characters make up words, and their lower case: a fixed table, of Unicode 14.0.0.

A word character is a letter, a mark or a number (general categories L, M and N) or the underscore.
Lower case is the simple mapping of Unicode, one character to one: İ gives i, and Σ gives σ wherever
it stands. The table is part of the package, because that of Python changes with its version, and
then the same text would get other columns.
"""

from __future__ import annotations

import base64
import functools
import zlib

import numpy as np

UNICODE_VERSION = "14.0.0"

# A step that no word character has.
NOT_IN_WORDS = 0x110000

# The steps from each character to its lower case in runs of equal ones: the lengths of the runs,
# then their steps, as little-endian int32, compressed.
RUNS = (
    "c-rk+U2IfE6y7`c-reoCrColy1xj0iLTULapg<L48wJ9T$OB>|(Z~ZP3h^f(FD6EL;XzG&FfmaRO*B0Cqz{;2F#ZG+qE"
    "SK8#-Bt4jXoHSCMH5+TxY!BxL=QRcbB%5ZMjWO&YhVvXU?2+=FFM1?MtOnISm;Nb2J1RJb-Dhz_%G!H0D#=2QCn8E55T"
    "dXDWia%JXXx{L9$4x&pi}SJ$eF^)i#dm!`5$jTSOjKt~4<CmS?O(-1n=$!mC|!kS9N+jJQ}SH#!gIt>dZD8`0W_?wZpS"
    "wp9WzDeQ(*D@qAqBdX=*}|OvB{<K^s<<x=-CV>F1M@W0<GgM`-~B|Zkn5TD4B}<Z?M-O!MNC^mv5D7Su3@@{HjLZ#T4@"
    "h;Sl_gta;(epSZHyaRUd08@MQXc;$A>9hWKs(PRGPupX3e7$e|oqiP*^VeUUQ+A`Ue}XFkPoj`wlvheD6OBM)yPS#sc="
    "5%iVxF4vQK_d)B&=sidLa>BP+H-V5{+J<%M!=3@wk$jZ6KaKx361d(d&9pyH@XLs|jS}~@-Dj5c7Kpo8u9tJ@HEvz@*+"
    "A%3#q4XfXomp1&ly5TmTo$}TZKQ`wK77+w6IqeeL3<GBioHwzlrw0*kNy*TeOP)0%&FKktTgudvuC9hGu4&m>ZBj7ot6"
    "r^kMt0F8UGA4BzcoW07MIroR{8w|gV)mvP9T5bwEtU8=fyO(Yxl-%4kv4*RmXnSmXoLwhFotEio)cfZ-wR*cs}ju!B2L"
    "ElWAOX-U?{_b>~Q)@fxGkKz^NB`YeuNQJ`1Z@ZC8YurZ{oUj%hR0Hj&jCNv*F|^ME#NZ`^Xf^SM)GU3-b!Oj$Y|xQ!`c"
    "Ud*MU9<x|MXs?LIh1w)<TSnNwbp2PH86P?zYSX6%p^aaW;_!8Klqx1BpJhNp#4<gdz6=kgtO317r+nSU#h1Nt%R9H4fZ"
    "Vs#oZcQx+5yvV0G_p$PXjy$B?8`l>#?11tk&d==~$+^<7p0FPGzPa}f>2|xhGlQtk(Kn9oYbA2@<m}W|y(I0(#bm54mm"
    "995e69&OFTc@7i#zFenjtUp_t}&qhLj%}nRhwfbcSv>?JJ~Q_FjquIjZs5dY|cQr+C#w{fp5a&;##lp$7E#v%8`^b-8^"
    "nK<2gzd3!BGTD<cn8ty`lTQ`Q-;a{U?J2%F-pen@vsjAoTGH6>#5359eVc%ZY<2_~Hd-k2!Ds*VyR|`Qu595Q#gKS=5-"
    "-~N;E~bh1X94pz(;A9uCLz%(fn9OCm+DW3=5gU8me=dOk=zC7!R#l{$<ISxME4->kPP-`bCm}0YmCvqtX1wuPPNaA>KX"
    "$WTZ1>VeMdJF3=rQV$c6a-1Jc0tc&Ga@`my)Q0+M@<r~z}`QbBL?p|=Lqz#CBG$b;rl%sEVUUkM)eeQ#?w?R1ZYXe+Au"
    "WJ!-b(8(cTtA)ff08N&BwVw9is-u=0H+SG#uT)d9HN{rCPkJc7*x;yVFLl(k71hEzC@0B+PoJ<s2tTnkla0t#Y+X#@%r"
    "d>KbIv0fY@Se{GuR2R^V%uTXogSbpa+HDHA2W!fZlfCtggj-!M+<Z$R%tIW|3D~x5rUe-cEMx!dfk$wK+%uy4nOATAx}"
    "^Hf%(ml_7t*f$o%m{A?lF&Dt`cIM^ui%9&W#)+4*fCkA8cf}W_iX7IZX$FX1(zXN!pzN<uCJWaG2Q8zYyPotI?3ca+$*"
    "Z3`K#*e}uYz?h|HRfaQTrbSQxBJNsYhY7Fzlk(Zjr}<EvKKzN8sk|JL$g8`?INDnQ4Mk<&0p@AKNoe!EbVoRsKXoI&Um"
    "G_#4_@iCY&*jV=Z*wY<Adgskk?ls7F|zNQ?0<(N42&y~rNN$=_xn#=huBzc)UNczsgCHa%$%=vHV0oY5bfG~?qs;Pk7A"
    "ZwL99S?dnbZWr}kd!KU+n0<E^XibcJQ$;p5a~^;n2IMb!x)(jF2iyDTVj<Gia1g}@v+hsxOXo=He1R9)%?EFL{-4qPfu"
    "6h%vNckTK0~!*!)MR*k`EbOx2sZZB~3LQd(LbueI7I~A%5&fd@}d=ose&nBX5;;9gps8`9BncqMn}><82}yg(45ObUTs"
    "j%tqVdjxn~gbYGc|wUA{M$vTaGYYoYdcLWi?^CV|p{0_r$aVS-?HRqOg?}NC9^7uXM$Ke0J7b+3AKcXCT31VIk->H5Sy"
    "X0?&+bCWbULVpLa~<yz<#_)DW!|+x74Jqh%KDdz`JX7Mt03mxmKU|hkos>^(OLUGhj^lye0Ma83H{B{8sB2w!!3~=SL#"
    "69(GZ=x3!2$h9Y~J-l1u$&?DDt$r7ZO??gUPa5_gWkr7;h!$%^}n#o|=h$9Ur-S}$>9UpV?cqwi1Y+uV^KYxqQre~$07"
    "8qUzzS;Q;zH(W-(uf=!V*jJ9Z-#GeI72majT{69*?RBb*&1wZdG0x|$x2N=dkLKOoGjjZ9-M4}AiE4OO8y8*kTs#f}F9"
    "PlY9ss@tlrqL<C&(rzVH1}B68Vy`*^d9@s~umODtAyEZc6T<NsEnd_Kh*;N^pV`oZtjcEWWSJjcZ-*(=XVZF|px9;ekI"
    ")?p(svyb}_f;PJqN7n0glE#QmvevZELBl_dUx$VXy=el^h#^2WPXE8n=y%95R=DsZCe@??C2kn!(?{I~6#sj~0VI=>-b"
    "H(C2=SJ?it;)Jh^JUa|`UGv=aIrY&_hNDOaQQR$!%(s4Ynt;KUl?-JelS$~b-HWuy*}1@V1g^-$?P9jGpCyhI;<7^*JI"
    "VkU)J}RyC){!I-%EjOT#e@?`b%Jb$``(Si{d6UiHVm&S`yjzpHtja_A%Ow~T7)@JXDTe7JLp@2}h8o81-WEUthP-?>6H"
    "l|&B-9=Dj5=pwOkf)iYOcz)u$HHZHJn)#+w"
)


@functools.cache
def case_steps(lowercase: bool = True) -> np.ndarray:
    """Give for each code point what takes it to its lower case, or `NOT_IN_WORDS`, as int32.

    Without `lowercase` the step of every word character is 0.

    Examples
    --------
    >>> [int(case_steps()[ord(letter)]) for letter in "aAΣ_9"]
    [0, 32, 32, 0, 0]
    >>> bool(case_steps()[ord("-")] == NOT_IN_WORDS)
    True
    """
    runs = np.frombuffer(zlib.decompress(base64.b85decode(RUNS)), "<i4").reshape(2, -1)
    kept = runs[1] if lowercase else np.where(runs[1] == NOT_IN_WORDS, NOT_IN_WORDS, 0)
    steps = np.repeat(kept, runs[0]).astype(np.int32)
    steps.flags.writeable = False
    return steps
