// The style and the script of the page that draws an impact. Neither names anything outside the page.

/** Columns beside each other; the line styles tell certainty without colour. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--back:#fff;--ink:#1b1f24;--soft:#59636e;--line:#8c959f;--box:#f6f8fa;--root:#0550ae;--exact:#1a7f37;--likely:#7d4e00;--possible:#6e7781}
@media(prefers-color-scheme:dark){:root{--back:#0d1117;--ink:#e6edf3;--soft:#9198a1;--line:#656c76;--box:#161b22;--root:#79c0ff;--exact:#56d364;--likely:#e3b341;--possible:#9198a1}}
*{box-sizing:border-box}
body{margin:0;padding:1rem;background:var(--back);color:var(--ink);font:14px/1.4 system-ui,sans-serif}
h1{font-size:1.3rem;margin:0 0 .5rem}h2{font-size:1rem;margin:0 0 .5rem}small{color:var(--soft);font-weight:400}
p{margin:.3rem 0}pre{margin:.3rem 0;padding:.5rem;background:var(--box);white-space:pre-wrap;overflow-wrap:anywhere}
main{position:relative;display:flex;gap:3.5rem;align-items:flex-start;overflow-x:auto;padding:1rem 0}
svg{position:absolute;top:0;left:0;pointer-events:none;overflow:visible}
svg path{fill:none;stroke:var(--line);stroke-width:1.2;opacity:.55}
svg path.possible{stroke-dasharray:2 4}svg path.likely{stroke-dasharray:7 4}svg path.near{stroke:var(--root);stroke-width:2;opacity:1}
section{flex:0 0 16rem;position:relative}ol{list-style:none;margin:0;padding:0}li{margin:0 0 .5rem}
button{display:block;width:100%;text-align:left;padding:.4rem .6rem;border:1.5px solid var(--possible);border-radius:.4rem;background:var(--box);color:inherit;font:inherit;cursor:pointer;overflow-wrap:anywhere}
button span,button em{display:block;color:var(--soft);font-size:.85em}
button.root{border-color:var(--root)}button.exact{border-color:var(--exact)}button.likely{border-color:var(--likely);border-style:dashed}button.possible{border-style:dotted}
button:focus-visible{outline:3px solid var(--root);outline-offset:2px}
main.chosen button:not(.near){opacity:.35}main.chosen svg path:not(.near){opacity:.08}
.legend span{padding:.1rem .5rem;border:1.5px solid;border-radius:.4rem;margin-right:.5rem}.legend .exact{border-color:var(--exact)}
.legend .likely{border-color:var(--likely);border-style:dashed}.legend .possible{border-color:var(--possible);border-style:dotted}.keys{color:var(--soft)}
@media print{main{overflow:visible}.keys{display:none}}
`;

/** Draws a line from each box to those it depends on; a chosen box shows only the ways through it. */
export const PAGE_SCRIPT = `
(function(){
var main=document.querySelector('main'),svg=main.querySelector('svg');
var boxes=[].slice.call(main.querySelectorAll('button')),byId={};
boxes.forEach(function(box){byId[box.id]=box});
var lines=[];
function parents(box){return (box.getAttribute('data-parents')||'').split(' ').filter(function(id){return byId[id]})}
boxes.forEach(function(box){parents(box).forEach(function(id){
  var path=document.createElementNS('http://www.w3.org/2000/svg','path');
  path.setAttribute('class',box.className);svg.appendChild(path);lines.push({path:path,from:byId[id],to:box})})});
function draw(){
  var at=main.getBoundingClientRect();
  svg.setAttribute('width',main.scrollWidth);svg.setAttribute('height',main.scrollHeight);
  lines.forEach(function(line){
    var a=line.from.getBoundingClientRect(),b=line.to.getBoundingClientRect();
    var x=a.right-at.left+main.scrollLeft,y=a.top-at.top+Math.min(a.height/2,24),u=b.left-at.left+main.scrollLeft,v=b.top-at.top+Math.min(b.height/2,24);
    var bend=Math.max(20,(u-x)/2);
    line.path.setAttribute('d','M'+x+' '+y+'C'+(x+bend)+' '+y+' '+(u-bend)+' '+v+' '+u+' '+v)})}
function follow(box,from,to,near){
  lines.forEach(function(line){if(line[from]===box&&!near.has(line.path)){near.add(line.path);near.add(line[to]);follow(line[to],from,to,near)}})}
function choose(box){
  var near=new Set();
  if(box){near.add(box);follow(box,'from','to',near);follow(box,'to','from',near)}
  main.classList.toggle('chosen',!!box);
  boxes.concat(lines.map(function(line){return line.path})).forEach(function(each){each.classList.toggle('near',near.has(each))});
  boxes.forEach(function(each){each.setAttribute('aria-pressed',each===box?'true':'false')})}
main.addEventListener('click',function(event){
  var box=event.target.closest('button');choose(box&&box.getAttribute('aria-pressed')!=='true'?box:null)});
document.addEventListener('keydown',function(event){
  if(event.key==='Escape'){choose(null);return}
  var box=document.activeElement;if(!byId[box&&box.id])return;
  var columns=[].slice.call(main.querySelectorAll('section')).map(function(each){return [].slice.call(each.querySelectorAll('button'))}).filter(function(each){return each.length});
  var column=columns.findIndex(function(each){return each.indexOf(box)>=0}),row=columns[column].indexOf(box);
  if(event.key==='ArrowDown')row++;else if(event.key==='ArrowUp')row--;else if(event.key==='ArrowRight')column++;else if(event.key==='ArrowLeft')column--;else return;
  var target=(columns[column]||[])[Math.max(0,Math.min(row,(columns[column]||[]).length-1))];
  if(target){event.preventDefault();target.focus()}});
addEventListener('resize',draw);draw();
})();
`;
